import type { Heartbeat } from '@belfry/db'

/** A dispatcher without a heartbeat for this long is dead. Longer than a pause that a busy machine may cause. */
export const livenessWindowMs = 12_000
// A scheduler that has not looked for this long has been blind: the dispatchers may have been alive.
const maxBlindMs = 4_000

/** Finds out which dispatchers are dead, by one scheduler's own clock: PostgreSQL's clock may step, and does not matter. */
export type Liveness = {
  /** Takes note of all heartbeats as they are now. Returns the dispatchers that have had none for 12 seconds. */
  observe(heartbeats: readonly Heartbeat[]): string[]
}

/** @param now - Milliseconds of a monotonic clock. */
export function createLiveness(now: () => number): Liveness {
  let seen = new Map<string, { beats: number | null; since: number }>()
  let observedAt = Number.NEGATIVE_INFINITY

  return {
    observe(heartbeats) {
      const at = now()
      const wasBlind = at - observedAt > maxBlindMs
      observedAt = at
      const before = seen
      seen = new Map()
      for (const { id, beats } of heartbeats) {
        const known = wasBlind ? undefined : before.get(id)
        seen.set(id, known && known.beats === beats ? known : { beats, since: at })
      }
      return [...seen].flatMap(([id, { since }]) => (at - since >= livenessWindowMs ? [id] : []))
    },
  }
}
