import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// `npm run docs:screenshots`: takes the pictures of the dashboard that the README shows, into docs/images.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    include: ['e2e/docs/screenshots/take.ts'],
    globalSetup: './vitest.global-setup.ts',
    testTimeout: 5 * 60_000,
    hookTimeout: 3 * 60_000,
    teardownTimeout: 30_000,
  },
})
