import type { Lab } from './lab/lab.ts'
import type { Measured } from './measure/statistics.ts'

/** The limit of a figure; `aim` is a goal beyond the limit. */
export type Limit = { atLeast: number; aim?: number } | { atMost: number; aim?: number }

/** One figure of a benchmark, over all rounds. */
export type Figure = Measured & {
  key: string
  /** The description in the table. */
  title: string
  /** One of several programs that are measured alike: a column in the table, in which figures with one title share a row. */
  side?: string
  /** Default: a plain ratio. */
  unit?: string
  limit?: Limit
}

export type Result = {
  figures: Figure[]
  /** Every measurement, by side and round. */
  rounds: unknown
  /** Facts that a reader of the figures needs. */
  notes?: string[]
}

export type Settings = {
  rounds: number
  /** How long `memory` watches; null for a short look. */
  minutes: number | null
  /** How long `light-load` holds each rate. */
  seconds: number
  /** The branch or commit that `gate` compares with. */
  base: string
}

/** A question and how it is answered. `run` rejects when a side did not do its work. */
export type Benchmark = {
  name: string
  title: string
  /** Runs only when it is named, and its limits decide about the exit code. Default false. */
  isGate?: boolean
  run(lab: Lab, settings: Settings): Promise<Result>
}
