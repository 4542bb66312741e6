/** How many of something happen in a time, as the last moments were. */
export type Pace = {
  note(now: number): void
  /** How many to expect within so many milliseconds, rounded up; none when nothing happened of late. */
  expect(ms: number, now: number): number
}

const windowMs = 100

/** Counts in windows of a tenth of a second; of the last one and the one that runs, the busier one tells. */
export function createPace(): Pace {
  let window = 0
  let count = 0
  let countBefore = 0

  function goOn(now: number): void {
    const current = Math.floor(now / windowMs)
    if (current === window) return
    countBefore = current === window + 1 ? count : 0
    count = 0
    window = current
  }

  return {
    note(now) {
      goOn(now)
      count++
    },
    expect(ms, now) {
      goOn(now)
      return Math.ceil((Math.max(count, countBefore) * ms) / windowMs)
    },
  }
}
