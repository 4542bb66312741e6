import Denque from 'denque'

/** How many calls to a host may start in any period of this length. */
export type StartRate = {
  count: number
  periodMs: number
  /** When calls may start at all. Default: always. */
  turn?: Turn
}

/** Calls may start for `openMs` from `beganAt`, a time that may be long ago, and again after each `everyMs`. */
export type Turn = { everyMs: number; openMs: number; beganAt: () => number }

/** The latest starts of calls to a host. All times are milliseconds of one clock. */
export type StartWindow = ReturnType<typeof createStartWindow>

export function createStartWindow() {
  const starts = new Denque<number>()
  return {
    /** When the next call may start; `now` or earlier: at once. */
    nextAt({ count, periodMs, turn }: StartRate, now: number): number {
      const limiting = starts.length < count ? undefined : starts.peekAt(starts.length - count)
      const at = limiting === undefined ? Number.NEGATIVE_INFINITY : limiting + periodMs
      return turn ? nextInTurn(Math.max(at, now), turn) : at
    },
    record(now: number, { count }: StartRate): void {
      starts.push(now)
      while (starts.length > count) starts.shift()
    },
    /** Forgets a start at a time: its call was not made. */
    forget(at: number): void {
      const index = starts.toArray().lastIndexOf(at)
      if (index !== -1) starts.removeOne(index)
    },
  }
}

function nextInTurn(at: number, { everyMs, openMs, beganAt }: Turn): number {
  const passed = at - beganAt()
  const sinceTurn = passed - Math.floor(passed / everyMs) * everyMs
  return sinceTurn < openMs ? at : at + everyMs - sinceTurn
}
