import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// `npm run test:openapi`, which needs Python.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['e2e/openapi/**/*.long.ts'],
    globalSetup: './vitest.global-setup.ts',
    testTimeout: 15 * 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
