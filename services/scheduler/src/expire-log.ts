import { setTimeout as sleep } from 'node:timers/promises'
import { dropRunPartitions } from '@belfry/db/retention/drop-run-partitions'
import { deleteOldRuns, deleteTasks, expireAuditLog } from '@belfry/db/retention/expire-log'
import { type KeptLog, organizationsWithAuditLog, workspacesWithTasks } from '@belfry/db/retention/kept-logs'
import { keptLogDays } from '@belfry/db/retention/month-parts'
import { toId } from '@belfry/domain/id'
import type { Context } from './context.ts'
import { drain, rowsOf } from './drain.ts'

const batchSize = 1000
const workspacesPerPage = 500
// Between batches, so deleting uses only a part of the database's capacity.
const pauseMs = 50

type OpenLog = KeptLog & { runsAfter: string | null; runsAreDone: boolean }
type Expired = { deleted: number; deadLetters: number }

/**
 * Deletes the runs and finished tasks that are older than their organization's tier keeps them, except for
 * organizations under legal hold, and drops the partitions that no organization keeps. Workspaces get one small batch
 * each, round-robin, so a big one does not delay the others. One whose batch fails leaves the round. After a stop, the next
 * call deletes the rest.
 * @returns How many runs, and how many tasks without a run, were deleted.
 * @throws The last error, after the round.
 */
export async function expireLog(ctx: Context, signal: AbortSignal): Promise<number> {
  const total = { deleted: 0, deadLetters: 0 }
  const errors: unknown[] = []
  for await (const expired of expireRoundRobin(ctx, signal, errors)) {
    total.deleted += expired.deleted
    total.deadLetters += expired.deadLetters
  }
  if (signal.aborted) return total.deleted
  const keptDays = await keptLogDays(ctx.pool, ctx.tiers)
  const hotDays = Math.min(keptDays, ctx.logStorage?.hotDays ?? keptDays)
  const partitions = await dropRunPartitions(ctx.pool, keptDays, hotDays)
  if (total.deleted > 0 || partitions.length > 0) ctx.log.info({ ...total, partitions }, 'log.expired')
  if (errors.length > 0) throw errors.at(-1)
  return total.deleted
}

// Each round expires one batch of every workspace, and adds a page of workspaces.
async function* expireRoundRobin(ctx: Context, signal: AbortSignal, errors: unknown[]): AsyncIterable<Expired> {
  let open: OpenLog[] = []
  let after: string | null = null
  let isLastPage = false
  while (!isLastPage || open.length > 0) {
    if (!isLastPage) {
      const page: KeptLog[] = await workspacesWithTasks(ctx.pool, ctx.tiers, after, workspacesPerPage)
      const expiring = page.filter(({ organizationId }) => !isHeld(ctx, organizationId))
      open.push(...expiring.map(kept => ({ ...kept, runsAfter: null, runsAreDone: false })))
      after = page.at(-1)?.workspaceId ?? after
      isLastPage = page.length < workspacesPerPage
    }
    const unfinished: OpenLog[] = []
    for (const log of open) {
      const { isDone, ...expired } = await expireBatch(ctx, log).catch(error => {
        ctx.log.warn({ err: error, workspace: toId('ws', log.workspaceId) }, 'log.not_expired')
        errors.push(error)
        return { deleted: 0, deadLetters: 0, isDone: true }
      })
      yield expired
      if (signal.aborted) return
      if (isDone) continue
      unfinished.push(log)
      await sleep(pauseMs, undefined, { signal }).catch(() => {}) // an aborted sleep ends the round
      if (signal.aborted) return
    }
    open = unfinished
  }
}

// Expires the runs first, and the tasks that may have no run after the last page of runs.
async function expireBatch(ctx: Context, log: OpenLog): Promise<Expired & { isDone: boolean }> {
  const { workspaceId, days } = log
  let expired = { deleted: 0, deadLetters: 0 }
  if (!log.runsAreDone) {
    const { last, examined, ...page } = await deleteOldRuns(ctx.pool, workspaceId, days, batchSize, log.runsAfter)
    expired = page
    log.runsAfter = last
    log.runsAreDone = examined < batchSize
  }
  if (!log.runsAreDone) return { ...expired, isDone: false }
  let isDone = true
  for (const which of ['cancelled', 'dead_without_run', ...(ctx.logStorage ? ['restored' as const] : [])] as const) {
    const deleted = await deleteTasks(ctx.pool, which, workspaceId, days, batchSize)
    expired.deleted += deleted
    if (deleted === batchSize) isDone = false
  }
  return { ...expired, isDone }
}

function isHeld({ legalHold }: Context, organizationId: string | null): boolean {
  return organizationId !== null && legalHold.includes(organizationId)
}

const organizationsPerPage = 500

/**
 * Deletes the audit entries that are older than their organization's tier keeps them. Returns how many there were.
 * @throws The last error, after the other organizations.
 */
export async function expireAuditLogs(ctx: Context, signal: AbortSignal): Promise<number> {
  const read = (after: string | null, limit: number) => organizationsWithAuditLog(ctx.pool, ctx.tiers, after, limit)
  let total = 0
  const errors: unknown[] = []
  for await (const kept of rowsOf(signal, organizationsPerPage, read, ({ organizationId }) => organizationId)) {
    if (isHeld(ctx, kept.organizationId)) continue
    try {
      total += await drain(signal, batchSize, limit => expireAuditLog(ctx.pool, kept, limit))
    } catch (error) {
      ctx.log.warn({ err: error, organization: toId('org', kept.organizationId) }, 'audit_log.not_expired')
      errors.push(error)
    }
  }
  if (total > 0) ctx.log.info({ entries: total }, 'audit_log.expired')
  if (errors.length > 0) throw errors.at(-1)
  return total
}
