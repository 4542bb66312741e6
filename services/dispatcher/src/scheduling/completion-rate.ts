/** How many attempts of a queue complete within a time, judging by the last moments. */
export type CompletionRate = {
  record(now: number): void
  /** Returns how many completions to expect within `ms`, rounded up; 0 when there were none lately. */
  expect(ms: number, now: number): number
}

const windowMs = 100

/** Counts in windows of 100 ms. The busier one of the last and the current window is the rate. */
export function createCompletionRate(): CompletionRate {
  let window = 0
  let count = 0
  let previousCount = 0

  function moveTo(now: number): void {
    const current = Math.floor(now / windowMs)
    if (current === window) return
    previousCount = current === window + 1 ? count : 0
    count = 0
    window = current
  }

  return {
    record(now) {
      moveTo(now)
      count++
    },
    expect(ms, now) {
      moveTo(now)
      return Math.ceil((Math.max(count, previousCount) * ms) / windowMs)
    },
  }
}
