import type { QueueField } from '@belfry/contract/queue'
import { inTransaction, withDb } from '@belfry/db/postgres/in-transaction'
import { type DueRow, scheduleOrStepBack, toDueTask } from '@belfry/db/tasks/due-work'
import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import { AppError } from '@belfry/domain/app-error'
import { originOfUrl } from '@belfry/domain/target-url'
import { readTraceparent } from '@belfry/domain/traceparent'
import { needsJob } from '@belfry/queue'
import { depthHeader, maxDepth, readDepth } from '@belfry/vault'
import type { Request } from 'express'
import { type Allowed, authorOf } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import type { Work } from '../endpoint.ts'
import { nameQueues, planQueues, type QueueDefaults } from '../queues/queues.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { chargeFanOut, readQuota, refuseLargePayload, refuseOverQuota } from '../quotas/quotas.ts'
import { requireSecretUse, type Written } from '../secrets/require-secret-use.ts'

export type ScheduleRequest = {
  caller: Allowed<'task.create' | 'task.write' | 'event.publish' | 'cron_job.write'>
  request: Request
}

/** Who created a task, after how many calls of Belfry in a row, and the caller's trace. */
export type Origin = Pick<NewTask, 'createdBy' | 'depth' | 'traceparent'>

/** What `store` has stored: the tasks that are due, the database's clock, and how many rows are new (default: all). */
export type Stored = { due: readonly DueTaskRow[]; now: Date; added?: number }

type Plan<T extends Stored> = {
  /** When the rows start. `at_once` needs an execution of this month; `later` may be in another month or tier. */
  starts: 'at_once' | 'later'
  /** What the rows count as. Default: pending tasks. */
  objects?: 'pendingTasks' | 'cronJobs'
  /** One for each task or cron job. `schedule` records the origin in them. */
  rows: ReadonlyArray<Origin & Written>
  /** How many rows may add nothing, because a stored task has their key. Default: 0. */
  repeats?: number
  /** What the caller has written of the requests. Default: `rows`. */
  written?: readonly Written[]
  /** The payload that all rows have. Default: the caller has checked its size. */
  payload?: string | null
  /** How many rows are the further ones of an event. The tier limits their number. Optional. */
  fanOut?: number
  /** The queues that the rows name. They are named in the transaction that stores the rows. */
  queues?: ReadonlyArray<QueueField | null | undefined>
  /** The limits of such a queue if it is new. Optional. */
  queueDefaults?: QueueDefaults
  /** Stores the rows through `work.db`. A rejection undoes everything. */
  store: (work: Work) => Promise<T>
}

/**
 * Creates tasks or cron jobs: every endpoint that does so goes this way.
 * @throws AppError `quota_exceeded`, `rate_limited`, `loop_detected`; `forbidden` or `conflict` for a queue.
 */
export async function schedule<T extends Stored>(
  work: Work,
  { caller, request }: ScheduleRequest,
  plan: Plan<T>,
): Promise<T> {
  const { rows, objects = 'pendingTasks', repeats = 0, queues = [], store } = plan
  const { organizationId, workspaceId } = caller
  const quota = await readQuota(work, organizationId)
  refuseOverQuota(quota, plan.starts)
  if (plan.payload) refuseLargePayload(quota, plan.payload)
  await requireSecretUse(work.db, caller, plan.written ?? rows)
  const origin = originOf(work, caller, request)
  for (const row of rows) Object.assign(row, origin)
  const charged = origin.depth !== null && objects === 'pendingTasks' ? rows.length : (plan.fanOut ?? 0)
  if (charged > 0) await chargeFanOut(work.db, quota, organizationId, charged)
  const planned = queues.some(Boolean) ? await planQueues(work.db, caller, queues, plan.queueDefaults) : []
  const stored = await withinLimit(work, quota, { workspaceId, objects, wanted: rows.length, repeats }, work =>
    planned.length === 0
      ? store(work)
      : inTransaction(work.db, async tx => {
          await nameQueues(tx, caller, planned)
          return store(withDb(work, tx))
        }),
  )
  work.afterCommit(ctx => enqueue(ctx, stored.due, stored.now))
  return stored
}

function originOf(work: Pick<Work, 'config'>, caller: Allowed, request: Request) {
  const { traceparent } = request.headers
  return {
    createdBy: authorOf(caller),
    depth: depthOf(work, request),
    traceparent: traceparent === undefined ? null : readTraceparent(traceparent),
  }
}

/**
 * Returns after how many calls of Belfry in a row a request came, or null. Ends loops of targets that create the next task
 * through the API.
 * @throws AppError `loop_detected`
 */
export function depthOf({ config }: Pick<Work, 'config'>, { headers }: Request): number | null {
  const value = headers[depthHeader.toLowerCase()]
  const depth = value === undefined ? 0 : readDepth(config.masterKeys, String(value))
  if (depth <= maxDepth) return depth === 0 ? null : depth
  const detail = `Belfry called the sender of this request after ${maxDepth} calls in a row of the same kind.`
  throw new AppError('loop_detected', `${detail} Such a request creates no task.`)
}

/** A task that is due, with what spares its dispatcher a query. */
export type DueTaskRow = DueRow & { workspaceId?: string; url?: string }

/**
 * Adds jobs for the tasks that are due soon, without delaying the response. Nothing depends on the jobs: dispatchers also
 * find due tasks in PostgreSQL. The workspace and the URL of a task save its dispatcher a query.
 */
export function enqueue(ctx: Context, tasks: readonly DueTaskRow[], now: Date): void {
  const { queue } = ctx
  if (queue === null) return
  const soon = tasks.filter(({ dueAt }) => needsJob(dueAt.getTime(), now.getTime()))
  if (soon.length === 0) return
  const onFailure = (err: unknown) => {
    ctx.log.warn({ err }, 'queue.away')
    ctx.metrics.queueAway()
  }
  const adding = scheduleOrStepBack(ctx.pool, () => queue.schedule(soon.map(toJob), now.getTime()), onFailure)
  const settled = adding
    .catch(err => ctx.log.warn({ err }, 'promotion.not_stepped_back'))
    .finally(() => ctx.background.delete(settled))
  ctx.background.add(settled)
}

function toJob({ id, dueAt, workspaceId, url }: DueTaskRow) {
  const row: Parameters<typeof toDueTask>[0] = { id, dueAt }
  if (workspaceId !== undefined) row.workspaceId = workspaceId
  if (url !== undefined) row.origin = originOfUrl(url)
  return toDueTask(row)
}
