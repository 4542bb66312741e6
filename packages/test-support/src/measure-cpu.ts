import { afterAll } from 'vitest'
import { endedChildrenTicks, readProc } from './proc.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a test file: CPU seconds of its worker and of the worker's ended children, from before its import to after its hooks. */
    cpuSeconds?: number
  }
}

// A setup file: Vitest evaluates it before each test file, so its hook runs after the hooks of the file.
const before = cpuSeconds()

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the first parameter as fixtures
afterAll(({}, suite) => {
  suite.meta.cpuSeconds = cpuSeconds() - before
})

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000 + endedChildrenTicks(readProc('self/stat')) / 100
}
