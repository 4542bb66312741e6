import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// These tests wait for real minutes; `npm test` has shorter versions of them.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['e2e/cron/**/*.long.ts'],
    globalSetup: './vitest.global-setup.ts',
    testTimeout: 15 * 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
