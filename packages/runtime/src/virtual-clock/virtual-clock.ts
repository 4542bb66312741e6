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

/** The kinds of work that are due. */
export type DueWork = {
  tasks: boolean
  deadlines: boolean
  /** Occurrences of cron jobs that become tasks. */
  occurrences: boolean
  messages: boolean
  /** Queues whose rate limit allows an attempt. */
  rateLimits: boolean
  /** Queues with blocked tasks. */
  blocked: boolean
  /** Operations on many tasks or dead letters. */
  operations: boolean
}

/**
 * How long before their time occurrences of cron jobs become tasks during a move. A day, so a daily job needs one stop of the
 * clock for each call.
 */
export const virtualLookAheadMs = 25 * 3_600_000

/** The part of a role in a move of the clock. */
export type VirtualRole = {
  /** The clock has moved. */
  moved?(): void
  /** Does the work of its kinds that is due now. Returns how much it found, once that is done. */
  work(due: DueWork): Promise<number>
  /** Does once what the role repeats for its upkeep. */
  upkeep?(): Promise<void>
  /** Returns the next time, in epoch milliseconds, at which the role has work that PostgreSQL does not know. */
  nextAt?(): number
}
