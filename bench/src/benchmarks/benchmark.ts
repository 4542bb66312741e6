import type { Lab } from '../lab/lab.ts'
import type { Rounds } from '../measure/rounds.ts'
import type { Measured } from '../measure/statistics.ts'

/** What a figure should be; `aim` is beyond what is demanded. */
export type Limit = { atLeast: number; aim?: number } | { atMost: number; aim?: number }

/** One figure of a benchmark, over all rounds. */
export type Figure = Measured & {
  key: string
  /** What it tells, for the table. */
  title: string
  /** Default: a plain ratio. */
  unit?: string
  limit?: Limit
}

export type Result = {
  figures: Figure[]
  /** Everything that was measured, side by side and round by round. */
  rounds: unknown
  /** What a reader of the figures should know. */
  notes?: string[]
}

export type Settings = {
  rounds: Rounds
  /** How long a benchmark that has a longer form takes in it; null for the short one. */
  minutes: number | null
  /** How long a benchmark that holds a rate does so. */
  seconds: number
}

/** A question and how it is answered. Rejects when a side did not do its work. */
export type Benchmark = {
  name: string
  title: string
  run(lab: Lab, settings: Settings): Promise<Result>
}
