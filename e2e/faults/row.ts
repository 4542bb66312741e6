import type { Limits } from './check/check-history.ts'
import type { Fixture } from './fixture/fixture.ts'

/** One row of the fault matrix: a fault, the moment when it happens, and the result that it must have. */
export type Row = {
  id: string
  fault: string
  moment: string
  expected: string
  /** A library for LD_PRELOAD; the row does not run on a machine without it. */
  needs?: 'libfaketime.so.1' | 'libnss_wrapper.so'
  /** Whether it needs root; it does not run as another user. */
  needsRoot?: true
  /** Whether its subject is Redis; it does not run without one. */
  aboutRedis?: true
  persistRedis?: boolean
  /** The executions of a third organization, `caller: 2`; without it there is no third organization. */
  executionLimit?: number
  /** Makes the fault happen, and returns what it may cost. */
  run(fixture: Fixture, seed: number): Promise<Allowance>
}

/** What the fault of a row may cost. */
export type Allowance = Limits & {
  /** How long it may take after the fault until no task is due or in flight. Default 60 s. */
  restMs?: number
}

export type RowResult = {
  row: Pick<Row, 'id' | 'fault' | 'moment' | 'expected'>
  status: 'passed' | 'FAILED' | 'not run'
  tasks: number
  hits: number
  repeats: number
  latenessMs: number
  durationMs: number
  notes: string[]
  /** Each violation with the whole history of its task. */
  complaints: string[]
}
