import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Pages with forms do not load the parts of lists, and lists do not load the parts of forms.
const isShared =
  /dashboard\/src\/(?!ui\/(filter-bar|list-table)|layout\/(resource-list|change-buttons)|forms\/(when|request))|lucide-react/

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    // Keeps light-dark() unchanged.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy forbids data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Each file is a request, and each request waits for the network.
        codeSplitting: { groups: [{ name: 'shared', test: isShared, minShareCount: 6 }] },
      },
    },
    sourcemap: false,
  },
  // A running `npm start` serves the API.
  server: {
    port: 5173,
    proxy: { '/api': { target: 'http://localhost:3000', headers: { origin: 'http://localhost:3000' } } },
  },
})
