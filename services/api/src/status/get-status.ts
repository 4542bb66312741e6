import type { Notice } from '@belfry/contract/notice'
import { operations } from '@belfry/contract/operations'
import type { Status } from '@belfry/contract/status'
import { readProcessState } from '@belfry/db/dispatchers/process-state'
import { type Action, decide } from '@belfry/domain/permissions'
import { withinMs } from '@belfry/runtime'
import { LRUCache } from 'lru-cache'
import type { Allowed } from '../auth/authorize.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { findNotices } from './find-notices.ts'

const queuePatienceMs = 1_000

// Open dashboards ask every few seconds. A request has a context of its own, and all have the configuration.
const shared = { max: 1_000, ttl: 1_000 }
const readings = new WeakMap<Config, LRUCache<string, Promise<Status>>>()

export const getStatus = endpoint(operations.getStatus, async (ctx, { caller }) => {
  const ofWorkspaces = readings.get(ctx.config) ?? new LRUCache<string, Promise<Status>>(shared)
  readings.set(ctx.config, ofWorkspaces)
  const status = ofWorkspaces.get(caller.workspaceId) ?? readStatus(ctx, caller)
  ofWorkspaces.set(caller.workspaceId, status, { noUpdateTTL: true })
  const { notices, ...others } = await status
  return {
    ...others,
    notices: notices.filter(({ kind }) => decide(caller.actor, rightOf[kind] ?? 'task.read').allowed),
  }
})

// Others name nothing, and callers of every right see them.
const rightOf: Partial<Record<Notice['kind'], Action>> = {
  circuit_open: 'host.read',
  host_paused: 'host.read',
  queue_paused: 'queue.read',
  cron_job_paused: 'cron_job.read',
}

async function readStatus(ctx: Context, caller: Allowed<'task.read'>): Promise<Status> {
  const [{ dispatchers, schedulers }, queue, notices] = await Promise.all([
    readProcessState(ctx.pool),
    stateOf(ctx.queue),
    findNotices(ctx, caller),
  ])
  const present = ({ live, lastSeenAt }: typeof dispatchers) => ({
    live,
    last_seen_at: lastSeenAt?.toISOString() ?? null,
  })
  const processes = { dispatchers: present(dispatchers), schedulers: present(schedulers) }
  return { ...processes, queue, notices: [...noticesOf(processes, queue), ...notices] }
}

function noticesOf(
  { dispatchers, schedulers }: Pick<Status, 'dispatchers' | 'schedulers'>,
  queue: Status['queue'],
): Notice[] {
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
