import type { Arrival } from '../lab/counter.ts'
import { quantile } from './statistics.ts'

/** How late calls were, in milliseconds. */
export type Lateness = { p50: number; p99: number; p999: number; least: number; greatest: number }

/**
 * Tells how late calls arrived that are named after the instant they were due, in epoch milliseconds.
 * @param from - Calls due before this are not counted.
 * @throws Error when a call came before its time.
 */
export function latenessOf(arrivals: readonly Arrival[], from: number): Lateness {
  const late = arrivals.flatMap(([due, at]) => (Number(due) >= from ? [at - Number(due)] : []))
  const [least, greatest] = [Math.min(...late), Math.max(...late)]
  if (least < -clocksApartMs) throw new Error(`A call came ${-least} ms before its time.`)
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99), p999: quantile(late, 0.999), least, greatest }
}

// Each process reads the machine's clock in a way of its own.
const clocksApartMs = 2
