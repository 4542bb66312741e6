import type { Fixture } from '../fixture/fixture.ts'
import type { Fleet } from './keep-running.ts'

/** The state of a lane of faults. */
export type FaultLane = {
  random: () => number
  fixture: Fixture
  fleet: Fleet
  /** By this process's monotonic clock. */
  endAt: number
  onFault: (line: string) => void
  faults: number
}

/** Returns a random element. */
export function pick<T>(random: () => number, things: readonly [T, ...T[]]): T {
  return things[Math.floor(random() * things.length)] ?? things[0]
}

/** Returns a random whole number between two others. */
export function between(random: () => number, from: number, to: number): number {
  return Math.round(from + random() * (to - from))
}
