import { operations } from '@belfry/contract/operations'
import type { Notice, Status } from '@belfry/contract/status'
import { listOpenCircuits, listPausedHosts } from '@belfry/db/dispatchers/host-circuits'
import { readProcessState } from '@belfry/db/dispatchers/process-state'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { listPausedQueues } from '@belfry/db/queues/queues'
import { type CancellingLimit, countCancelled } from '@belfry/db/tasks/count-cancelled'
import { isDeadLetter, isHeld } from '@belfry/db/tasks/task-row'
import { type Action, decide } from '@belfry/domain/permissions'
import { withinMs } from '@belfry/runtime'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { countTasksByHost } from '../hosts/hosts.ts'
import { readQuota } from '../quotas/quotas.ts'

const queuePatienceMs = 1_000
const maxDeadLetters = 1_000

/** What callers of a workspace share for a second. */
type Shared = Omit<Status, 'dead_letters'>

export const getStatus = endpoint(operations.getStatus, async (ctx, { caller }) => {
  const status = ctx.statuses.get(caller.workspaceId) ?? readStatus(ctx, caller)
  ctx.statuses.set(caller.workspaceId, status, { noUpdateTTL: true })
  const may = (action: Action) => decide(caller.actor, action).allowed
  const [{ notices, ...others }, deadLetters] = await Promise.all([
    status,
    may('dead_letter.read') ? countTasks(ctx.pool, caller.workspaceId, isDeadLetter, maxDeadLetters) : null,
  ])
  return {
    ...others,
    notices: notices.filter(({ kind }) => may(rightOf[kind] ?? 'task.read')),
    dead_letters: deadLetters,
  }
})

// Other notices do not name objects, so every caller of the status sees them.
const rightOf: Partial<Record<Notice['kind'], Action>> = {
  circuit_open: 'host.read',
  host_paused: 'host.read',
  queue_paused: 'queue.read',
  cron_job_paused: 'cron_job.read',
}

async function readStatus(ctx: Context, caller: Allowed<'task.read'>): Promise<Shared> {
  const [{ dispatchers, schedulers }, queue, notices] = await Promise.all([
    readProcessState(ctx.pool),
    stateOf(ctx.queue),
    findNotices(ctx, caller),
  ])
  const present = ({ live, lastSeenAt }: typeof dispatchers) => ({
    live,
    last_seen_at: lastSeenAt?.toISOString() ?? null,
  })
  const state = { dispatchers: present(dispatchers), schedulers: present(schedulers), queue }
  return { ...state, notices: [...noticesOf(state), ...notices] }
}

function noticesOf({ dispatchers, schedulers, queue }: Omit<Shared, 'notices'>): Notice[] {
  const notice = (kind: Notice['kind'], since: string | null) => ({ kind, count: 1, name: null, since, tasks: 0 })
  return [
    ...(dispatchers.live === 0 ? [notice('no_dispatcher', dispatchers.last_seen_at)] : []),
    ...(schedulers.live === 0 ? [notice('no_scheduler', schedulers.last_seen_at)] : []),
    ...(queue === 'down' ? [notice('queue_down', null)] : []),
  ]
}

async function stateOf(queue: Context['queue']): Promise<Status['queue']> {
  if (queue === null) return 'none'
  return withinMs(queuePatienceMs, () => queue.ping()).then(
    () => 'up',
    () => 'down',
  )
}

const maxCounted = 10_000

/** Finds what keeps tasks of a workspace from running, the most severe first. */
async function findNotices(ctx: Context, caller: Allowed<'task.read'>): Promise<Notice[]> {
  const { pool } = ctx
  const { workspaceId } = caller
  const [limits, held, circuits, paused, queues, cronJobs] = await Promise.all([
    findReachedLimits(ctx, caller),
    countTasks(pool, workspaceId, isHeld, maxCounted),
    listOpenCircuits(pool, workspaceId),
    listPausedHosts(pool, workspaceId),
    listPausedQueues(pool, workspaceId),
    listPausedCronJobs(pool, workspaceId),
  ])
  const open = circuits.filter(({ host }) => !paused.has(host))
  const isBlocked = open.length + paused.size > 0
  const tasks = isBlocked ? (await countTasksByHost(pool, workspaceId, maxCounted)).hosts : null
  const ofHost = (name: string, since: Date) => ({ name, since, tasks: tasks?.get(name)?.waiting ?? 0 })
  const blocked = open.map(({ host, since }) => ofHost(host, since))
  const pausedHosts = [...paused].map(([host, since]) => ofHost(host, since))
  return [
    ...limits,
    ...(held > 0 ? [{ kind: 'held' as const, count: 1, name: null, since: null, tasks: held }] : []),
    ...together('circuit_open', blocked),
    ...together('host_paused', pausedHosts),
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

async function findReachedLimits(ctx: Context, caller: Allowed<'task.read'>): Promise<Notice[]> {
  const { limits, used } = await readQuota(ctx, caller.organizationId)
  const reached: Array<[Notice['kind'], CancellingLimit]> = []
  if (used.executions >= limits.executions) reached.push(['executions_used', 'monthly_execution_limit'])
  if (used.storageBytes > limits.storageBytes) reached.push(['storage_full', 'storage_quota'])
  return Promise.all(
    reached.map(async ([kind, reason]) => {
      const { tasks, since } = await countCancelled(ctx.pool, caller.workspaceId, reason, maxCounted)
      return { kind, count: 1, name: null, since: since?.toISOString() ?? null, tasks }
    }),
  )
}

async function countTasks(db: Db, workspaceId: string, condition: string, max: number): Promise<number> {
  const text = `
    SELECT count(*)::int AS count FROM (SELECT FROM tasks t WHERE workspace_id = $1 AND ${condition} LIMIT ${max}) counted`
  return (await db.query<{ count: number }>(text, [workspaceId])).rows[0]?.count ?? 0
}

// A paused cron job does not create tasks.
async function listPausedCronJobs(db: Db, workspaceId: string): Promise<Paused[]> {
  const text = `
    SELECT name, paused_at AS since, 0 AS tasks FROM cron_jobs
    WHERE workspace_id = $1 AND paused_at IS NOT NULL AND (ends_at IS NULL OR ends_at > now())`
  return (await db.query<Paused>(text, [workspaceId])).rows
}
