import { recoverStrays as recover } from '@belfry/db'
import type { Context } from './context.ts'

/**
 * The claims that this process answers for, from the moment that each is asked for to its record or its undoing. A run's id
 * ends with the random half of the token by which it was claimed.
 */
export type HeldClaims = {
  add(token: string): void
  /** The claim was recorded, undone, or not made. */
  release(token: string): void
  /** The claim may have been made. Nothing was sent for it, and this process does not wait for its answer any more. */
  abandon(token: string): void
  has(runId: string): boolean
  isAbandoned(runId: string): boolean
}

// A statement whose answer is lost has ended long before.
const abandonedMs = 300_000

/** @param now - Milliseconds. */
export function createHeldClaims(now: () => number): HeldClaims {
  const held = new Set<string>()
  const abandoned = new Map<string, number>() // since when, in order
  return {
    add: token => held.add(randomHalf(token)),
    release: token => held.delete(randomHalf(token)),
    abandon(token) {
      held.delete(randomHalf(token))
      abandoned.set(randomHalf(token), now())
      for (const [oldest, since] of abandoned) {
        if (now() - since < abandonedMs) break
        abandoned.delete(oldest)
      }
    },
    has: runId => held.has(randomHalf(runId)),
    isAbandoned: runId => abandoned.has(randomHalf(runId)),
  }
}

function randomHalf(uuid: string): string {
  return uuid.slice(-17)
}

/**
 * Ends claims that PostgreSQL has for this process, and that it does not hold: no other process would while this one lives.
 * Abandoned claims are undone. Every other one may have been sent, and is lost: its record was lost by a failover, or
 * could not be written.
 * @returns How many there were.
 */
export async function recoverStrays(ctx: Context): Promise<number> {
  const { undone, lost } = await recover(ctx.pool, ctx.dispatcher.id, ctx.held.has, ctx.held.isAbandoned)
  if (undone.length + lost.length > 0) ctx.log.warn({ undone: undone.length, lost: lost.length }, 'claims.recovered')
  return undone.length + lost.length
}
