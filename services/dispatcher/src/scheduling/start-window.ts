import Denque from 'denque'

/** How many calls to a host may start in any period of this length. */
export type StartRate = { count: number; periodMs: number }

/** The latest starts of calls to a host. All times are milliseconds of one clock. */
export type StartWindow = {
  /** When the next call may start; `now` or earlier: at once. */
  nextAt({ count, periodMs }: StartRate): number
  record(now: number, rate: StartRate): void
}

export function createStartWindow(): StartWindow {
  const starts = new Denque<number>()
  return {
    nextAt({ count, periodMs }) {
      const limiting = starts.length < count ? undefined : starts.peekAt(starts.length - count)
      return limiting === undefined ? Number.NEGATIVE_INFINITY : limiting + periodMs
    },
    record(now, { count }) {
      starts.push(now)
      while (starts.length > count) starts.shift()
    },
  }
}
