import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// `npm run test:speed`: measures the dashboard. Other tests beside it would change the figures.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['e2e/dashboard/**/*.long.ts'],
    globalSetup: './vitest.global-setup.ts',
    testTimeout: 300_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
