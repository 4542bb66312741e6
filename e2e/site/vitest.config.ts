import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { dir: import.meta.dirname, include: ['**/*.long.ts'], testTimeout: 300_000, hookTimeout: 300_000 },
})
