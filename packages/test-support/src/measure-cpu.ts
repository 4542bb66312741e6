import { afterAll } from 'vitest'
import { readCpu } from './proc.ts'
import { measureReferenceWork } from './reference-work.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a test file: CPU seconds of its worker and of the worker's children, from before its import to after its hooks. */
    cpuSeconds?: number
    /** Of a test file: CPU milliseconds of the reference work before it. */
    referenceWorkMs?: number
  }
}

// A setup file: Vitest evaluates it before each test file, so its hook runs after the hooks of the file.
const referenceWorkMs = measureReferenceWork()
const before = cpuSeconds()

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the first parameter as fixtures
afterAll(({}, suite) => {
  suite.meta.cpuSeconds = cpuSeconds() - before
  suite.meta.referenceWorkMs = referenceWorkMs
})

// Children that live longer than a file, such as a shared browser, count as well as ended ones.
function cpuSeconds(): number {
  const { worker = 0 } = readCpu({ worker: [process.pid] })
  return worker / 1_000_000
}
