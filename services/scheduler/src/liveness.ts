import type { Heartbeat } from '@belfry/db/dispatchers/heartbeat'

/** A dispatcher without a heartbeat for this long is dead. A busy machine may cause shorter pauses. */
const livenessWindowMs = 12_000
// After a longer gap between observations, the scheduler cannot know whether dispatchers were alive.
const maxBlindMs = 4_000

/**
 * Detects dead dispatchers by the scheduler's own monotonic clock, because PostgreSQL's clock may step.
 * @param now - Milliseconds of a monotonic clock.
 */
export function createLiveness(now: () => number) {
  let seen = new Map<string, { beats: number | null; since: number }>()
  let observedAt = Number.NEGATIVE_INFINITY

  return {
    /** Records all current heartbeats. Returns those that have not changed for 12 seconds. */
    observe(heartbeats: readonly Heartbeat[]): Heartbeat[] {
      const at = now()
      const wasBlind = at - observedAt > maxBlindMs
      observedAt = at
      const before = seen
      seen = new Map()
      for (const { id, beats } of heartbeats) {
        const known = wasBlind ? undefined : before.get(id)
        seen.set(id, known && known.beats === beats ? known : { beats, since: at })
      }
      return heartbeats.filter(({ id }) => at - (seen.get(id)?.since ?? at) >= livenessWindowMs)
    },
  }
}
