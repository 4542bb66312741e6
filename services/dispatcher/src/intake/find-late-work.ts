import { randomUUID } from 'node:crypto'
import { lateWorkspaces } from '@belfry/db'
import type { Context } from '../context.ts'

const slowQueueMs = 3_000
const fewInHand = 100

type LateWorkContext = Pick<Context, 'queue' | 'pool' | 'hand' | 'lines' | 'backlog' | 'log'>

/**
 * Finds the workspaces whose due tasks the queue does not bring: at once while it is unreachable, and what is some seconds
 * late while it is only slow or has lost a job. `refillLines` takes their tasks then. Any number of dispatchers may do so
 * at once, beside the jobs of the same tasks; the claim decides.
 *
 * Where the queue works and many of a workspace's tasks are in hand, these are late because there is much to do; looking
 * among them for one whose job was lost is left to the rounds that are thorough.
 * @returns How many workspaces have late work.
 */
export async function findLateWork(ctx: LateWorkContext, isThorough: boolean): Promise<number> {
  const isReachable = await ctx.queue.ping().then(
    () => true,
    () => false,
  )
  const graceMs = isReachable ? slowQueueMs : 0
  const late = await lateWorkspaces(ctx.pool, { graceMs, startAt: randomUUID() })
  for (const workspace of late) {
    const startable = ctx.hand.countOf(workspace) - ctx.lines.parkedOf(workspace)
    if (isThorough || !isReachable || startable < fewInHand) ctx.backlog.note(workspace, 0)
  }
  const missed = late.filter(workspace => ctx.hand.countOf(workspace) === 0)
  if (missed.length > 0) ctx.log.warn({ workspaces: missed.length, isReachable }, 'queue.late')
  return late.length
}
