import type { Notice } from '@belfry/contract/notice'
import { listOpenCircuits, listPausedHosts } from '@belfry/db/dispatchers/host-circuits'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { listPausedQueues } from '@belfry/db/queues/queues'
import { isHeld } from '@belfry/db/tasks/task-row'
import type { StateReason } from '@belfry/domain/task-state'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { countTasksByHost } from '../hosts/count-tasks-by-host.ts'
import { readQuota } from '../quotas/quotas.ts'

const maxCounted = 10_000

/** Finds what keeps tasks of a workspace from running, the most severe first. */
export async function findNotices(ctx: Context, caller: Allowed<'task.read'>): Promise<Notice[]> {
  const { pool } = ctx
  const { workspaceId } = caller
  const [limits, held, circuits, paused, queues, cronJobs] = await Promise.all([
    findReachedLimits(ctx, caller),
    countHeld(pool, workspaceId),
    listOpenCircuits(pool, workspaceId),
    listPausedHosts(pool, workspaceId),
    listPausedQueues(pool, workspaceId),
    listPausedCronJobs(pool, workspaceId),
  ])
  const open = circuits.filter(({ host }) => !paused.has(host))
  const isBlocked = open.length + paused.size > 0
  const tasks = isBlocked ? (await countTasksByHost(pool, workspaceId, maxCounted)).hosts : null
  const ofHost = (name: string, since: Date) => ({ name, since, tasks: tasks?.get(name)?.waiting ?? 0 })
  return [
    ...limits,
    ...(held > 0 ? [{ kind: 'held' as const, count: 1, name: null, since: null, tasks: held }] : []),
    ...together(
      'circuit_open',
      open.map(({ host, since }) => ofHost(host, since)),
    ),
    ...together(
      'host_paused',
      [...paused].map(([host, since]) => ofHost(host, since)),
    ),
    ...together('queue_paused', queues),
    ...together('cron_job_paused', cronJobs),
  ]
}

type Paused = { name: string; since: Date; tasks: number }

function together(kind: Notice['kind'], all: readonly Paused[]): Notice[] {
  const [first] = all.toSorted((a, b) => a.since.getTime() - b.since.getTime())
  if (!first) return []
  const tasks = all.reduce((sum, one) => sum + one.tasks, 0)
  const name = all.length === 1 ? first.name : null
  return [{ kind, count: all.length, name, since: first.since.toISOString(), tasks: Math.min(tasks, maxCounted) }]
}

async function findReachedLimits(
  ctx: Context,
  { organizationId, workspaceId }: Allowed<'task.read'>,
): Promise<Notice[]> {
  const { limits, used } = await readQuota(ctx, organizationId)
  const reached: Array<[Notice['kind'], StateReason]> = []
  if (used.executions >= limits.executions) reached.push(['executions_used', 'monthly_execution_limit'])
  if (used.storageBytes > limits.storageBytes) reached.push(['storage_full', 'storage_quota'])
  return Promise.all(
    reached.map(async ([kind, reason]) => {
      const { tasks, since } = await countCancelled(ctx.pool, workspaceId, reason)
      return { kind, count: 1, name: null, since: since?.toISOString() ?? null, tasks }
    }),
  )
}

type Cancelled = { tasks: number; since: Date | null }

/** Counts the tasks that were cancelled for a limit this month, among the newest 100,000 cancelled ones. */
async function countCancelled(db: Db, workspaceId: string, reason: StateReason): Promise<Cancelled> {
  const text = `
    SELECT count(*)::int AS tasks, min(finished_at) AS since FROM (
      SELECT finished_at FROM (
        SELECT state_reason, finished_at FROM tasks WHERE workspace_id = $1 AND state = 'cancelled' ORDER BY id DESC LIMIT 100000
      ) newest
      WHERE state_reason = $2 AND finished_at >= utc_month(now()) LIMIT ${maxCounted}
    ) counted`
  const { rows } = await db.query<Cancelled>(text, [workspaceId, reason])
  return rows[0] ?? { tasks: 0, since: null }
}

async function countHeld(db: Db, workspaceId: string): Promise<number> {
  const text = `
    SELECT count(*)::int AS held FROM (SELECT FROM tasks WHERE workspace_id = $1 AND ${isHeld} LIMIT ${maxCounted}) counted`
  return (await db.query<{ held: number }>(text, [workspaceId])).rows[0]?.held ?? 0
}

// A paused cron job creates no tasks.
async function listPausedCronJobs(db: Db, workspaceId: string): Promise<Paused[]> {
  const text = `
    SELECT name, paused_at AS since, 0 AS tasks FROM cron_jobs
    WHERE workspace_id = $1 AND paused_at IS NOT NULL AND (ends_at IS NULL OR ends_at > now())`
  return (await db.query<Paused>(text, [workspaceId])).rows
}
