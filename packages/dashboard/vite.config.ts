import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    // light-dark() is written as it is.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The page's policy allows no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  // `npm start` beside it serves what is behind the pages.
  server: {
    port: 5173,
    proxy: { '/api': { target: 'http://localhost:3000', headers: { origin: 'http://localhost:3000' } } },
  },
})
