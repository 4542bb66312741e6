import type { Bench } from './bench/bench.ts'
import type { Limits } from './check/check-story.ts'

/** One row of the fault matrix: a fault, the moment that it strikes, and what must come of it. */
export type Row = {
  id: string
  fault: string
  moment: string
  expected: string
  /** A library for LD_PRELOAD; without it on this machine the row is not run. */
  needs?: 'libfaketime.so.1' | 'libnss_wrapper.so'
  persistRedis?: boolean
  /** Makes the fault happen, and returns what it may cost. */
  run(bench: Bench, seed: number): Promise<Allowance>
}

/** What the fault of a row may cost. */
export type Allowance = Limits & {
  /** How long everything may take to come to rest after the fault. Default 60 s. */
  restMs?: number
}

/** What came of a row. */
export type RowResult = {
  row: Pick<Row, 'id' | 'fault' | 'moment' | 'expected'>
  status: 'passed' | 'FAILED' | 'not run'
  tasks: number
  hits: number
  repeats: number
  latenessMs: number
  durationMs: number
  notes: string[]
  /** Each violation with the task's whole story. */
  complaints: string[]
}
