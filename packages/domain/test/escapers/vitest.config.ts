import { defineConfig } from 'vitest/config'

// These tests run Go, PHP, Python and bash on thousands of values; `npm test` has a sample of what they write.
export default defineConfig({
  test: {
    root: new URL('../../../..', import.meta.url).pathname,
    include: ['packages/domain/test/escapers/*.long.ts'],
    testTimeout: 10 * 60_000,
  },
})
