import type { Bench } from '../bench/bench.ts'
import type { Fleet } from './keep-running.ts'

/** What a lane of faults works with, and what it has to answer for. */
export type FaultStory = {
  random: () => number
  bench: Bench
  fleet: Fleet
  /** By this process's monotonic clock. */
  endAt: number
  onFault: (line: string) => void
  /** How many sends may have been repeated because of this lane. */
  mayRepeat: number
  faults: number
}

// A dispatcher never has more under way than this.
const mostUnderWay = 200

/** Counts the attempts under way; the most that there can be when the database does not say. */
export async function countUnderWay(bench: Bench): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM tasks WHERE state = 'processing'`
  const counted = await bench.sql<{ n: number }>(text).catch(() => null)
  return counted?.[0]?.n ?? mostUnderWay
}

/** Picks one of several. */
export function pick<T>(random: () => number, things: readonly [T, ...T[]]): T {
  return things[Math.floor(random() * things.length)] ?? things[0]
}

/** A whole number of milliseconds between two others. */
export function between(random: () => number, from: number, to: number): number {
  return Math.round(from + random() * (to - from))
}
