import { setTimeout as sleep } from 'node:timers/promises'

/** How far the calls of a run are. */
export type Progress = {
  /** The number of the last order. */
  last: number
  /** Rows of the outbox. */
  outbox: number
  /** Calls in Belfry that have not ended. */
  open: number
  ended: number
  /** Attempts of all calls. */
  attempts: number
}

/** Returns how many of the orders have calls that have not ended, or were not even placed. */
export function inFlight({ last, outbox, open }: Progress, orders: number): number {
  return orders - last + outbox + open
}

/** Waits until the progress satisfies a condition, or nothing has moved for `maxStillMs`, and returns it. */
export async function untilProgress(
  observe: () => Promise<Progress>,
  satisfies: (progress: Progress) => boolean,
  { pollMs = 250, maxStillMs = 5 * 60_000 } = {},
): Promise<Progress> {
  let [before, movedAt] = ['', performance.now()]
  for (;;) {
    const progress = await observe()
    const now = JSON.stringify(progress)
    if (now !== before) [before, movedAt] = [now, performance.now()]
    if (satisfies(progress) || performance.now() - movedAt >= maxStillMs) return progress
    await sleep(pollMs)
  }
}
