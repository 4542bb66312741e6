import { defineConfig } from 'vitest/config'

// What takes minutes because it watches real minutes go by; `npm test` has the short form of it.
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['e2e/cron/**/*.long.ts'],
    globalSetup: './vitest.global-setup.ts',
    testTimeout: 15 * 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
