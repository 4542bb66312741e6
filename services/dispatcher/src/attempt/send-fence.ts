import type { DispatcherRow } from '@belfry/db/dispatchers/heartbeat'
import { machineTime } from '@belfry/runtime'

// A scheduler ends a dispatcher after 12 s. The rest is for a request that is written and has not left the machine.
const maxAgeMs = 10_000

/**
 * Tells whether the claims of this process stand. A scheduler ends a dispatcher that had no heartbeat for 12 seconds, and its
 * tasks may then be stopped, or called by others. A process that was frozen meanwhile learns of it here.
 */
export function createSendFence(dispatcher: Pick<DispatcherRow, 'session'>) {
  // The monotonic clock stops while the machine is suspended. The wall clock does not, but it may be set back.
  let provenAt = Number.NEGATIVE_INFINITY
  let provenAtWall = Number.NEGATIVE_INFINITY
  return {
    /** Runs a heartbeat. Its answer proves that the dispatcher had not been ended when the heartbeat began. */
    async prove<T>(beat: () => Promise<T>): Promise<T> {
      const beganAt = performance.now()
      const beganAtWall = machineTime()
      const answer = await beat()
      provenAt = beganAt
      provenAtWall = beganAtWall
      return answer
    },
    /** Returns whether a claim of a session certainly stands. */
    holds: (session: string): boolean =>
      session === dispatcher.session &&
      performance.now() - provenAt < maxAgeMs &&
      machineTime() - provenAtWall < maxAgeMs,
  }
}
