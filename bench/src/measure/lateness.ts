import type { Arrival } from '../lab/counter.ts'
import { quantile } from './statistics.ts'

/** How late calls were, in milliseconds. */
export type Lateness = { p50: number; p99: number; p999: number; min: number; max: number }

// Each process reads the clock of the machine in its own way.
const maxClockDifferenceMs = 2

/**
 * Returns how late calls arrived. The name of each call is its due time in epoch milliseconds.
 * @param from - Calls due before this do not count.
 * @throws Error when a call came before its time.
 */
export function latenessOf(arrivals: readonly Arrival[], from: number): Lateness {
  const late = arrivals.flatMap(([due, at]) => (Number(due) >= from ? [at - Number(due)] : []))
  const [min, max] = [Math.min(...late), Math.max(...late)]
  if (min < -maxClockDifferenceMs) throw new Error(`A call came ${-min} ms before its time.`)
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99), p999: quantile(late, 0.999), min, max }
}
