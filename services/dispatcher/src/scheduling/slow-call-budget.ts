/**
 * The time that calls of an organization hold slots, beyond the first second of each call. It drains continuously, by the
 * limit in a minute. All times are milliseconds of one clock.
 */
export type SlowCallBudget = {
  begin(now: number): void
  end(startedAt: number, now: number): void
  /** Whether calls have held slots for longer than the limit, those in flight included. */
  isSpent(now: number): boolean
}

const fastMs = 1_000
const minuteMs = 60_000

/** @param perMinute - The limit, in milliseconds. */
export function createSlowCallBudget(perMinute: () => number): SlowCallBudget {
  let heldMs = 0
  let drainedAt = 0
  let inFlight = 0
  let sumOfStarts = 0

  function drain(now: number): void {
    const limit = perMinute()
    heldMs = limit === Number.POSITIVE_INFINITY ? 0 : Math.max(0, heldMs - ((now - drainedAt) / minuteMs) * limit)
    drainedAt = now
  }

  return {
    begin(now) {
      inFlight++
      sumOfStarts += now
    },
    end(startedAt, now) {
      inFlight--
      sumOfStarts -= startedAt
      drain(now)
      // The limit of two minutes is the maximum, so the organization recovers within a minute.
      heldMs = Math.min(heldMs + Math.max(0, now - startedAt - fastMs), 2 * perMinute())
    },
    isSpent(now) {
      drain(now)
      return heldMs + Math.max(0, inFlight * (now - fastMs) - sumOfStarts) > perMinute()
    },
  }
}
