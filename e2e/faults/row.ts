import type { Limits } from './check/check-history.ts'
import type { Fixture } from './fixture/fixture.ts'

/** One row of the fault matrix: a fault, the moment that it strikes, and what must come of it. */
export type Row = {
  id: string
  fault: string
  moment: string
  expected: string
  /** A library for LD_PRELOAD; the row is not run on a machine without it. */
  needs?: 'libfaketime.so.1' | 'libnss_wrapper.so'
  /** Whether its subject is Redis: without one it is not run. */
  aboutRedis?: true
  persistRedis?: boolean
  /** The executions of a third organization, `caller: 2`; none is made without it. */
  executionLimit?: number
  /** Makes the fault happen, and returns what it may cost. */
  run(fixture: Fixture, seed: number): Promise<Allowance>
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
  /** Each violation with the task's whole history. */
  complaints: string[]
}
