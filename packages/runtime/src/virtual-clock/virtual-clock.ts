declare global {
  /** True in the build for `@belfry/testing`. Everywhere else it is false, and the bundler drops what depends on it. */
  const __VIRTUAL_CLOCK__: boolean
}

/** The clock of a server for tests. All roles of its process and PostgreSQL follow it. */
export type VirtualClock = {
  /** Registers what a role does when the clock moves. */
  join(role: VirtualRole): void
  read(): ClockReading
  /** Stops the clock at its present time. */
  freeze(): Promise<ClockReading>
  /** Moves the clock from one due time to the next, up to `to`, and waits at each until its work is done. */
  advance(to: number): Promise<ClockReading>
  /** Advances while anything but cron jobs has work before `until`. */
  runUntilIdle(until: number): Promise<ClockReading>
  /** Returns to the time of the machine, and lets the clock run. */
  reset(): Promise<ClockReading>
}

/** `now`: epoch milliseconds. */
export type ClockReading = { now: number; isFrozen: boolean }

export type DueWork = {
  /** The next page of tasks. */
  tasks: readonly DueTask[]
  deadlines: boolean
  /** How long before their time occurrences of cron jobs become tasks. 0: they do not become tasks now. */
  lookAheadMs: number
  messages: boolean
  /** Queues whose rate limit allows an attempt. */
  rateLimits: boolean
  /** Queues with blocked tasks. */
  blocked: boolean
  /** Operations on many tasks or dead letters. */
  operations: boolean
}

/** A waiting task, as its row shows it. */
export type DueTask = { id: string; workspaceId: string; dueAt: Date; origin: string }

/** The part of a role in a move of the clock. */
export type VirtualRole = {
  moved?(): void
  /** Does the work of its kinds that is due now. Returns how much it found, once that is done. */
  work(due: DueWork): Promise<number>
  /**
   * Waits for work that has begun, also without `work`, because the loops and notifications of the role run on during a move.
   * Returns how much has begun so far.
   */
  finishBegun?(): Promise<number>
  /** Does once what the role repeats for its upkeep. */
  upkeep?(): Promise<void>
  /** Returns the next time, in epoch milliseconds, at which the role has work that PostgreSQL does not know. */
  nextAt?(): number
}
