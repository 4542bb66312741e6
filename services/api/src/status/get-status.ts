import { operations } from '@belfry/contract/operations'
import type { Status } from '@belfry/contract/status'
import { readProcessState } from '@belfry/db/dispatchers/process-state'
import { withinMs } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'

// Open dashboards ask every few seconds.
const sharedMs = 1_000
const queuePatienceMs = 1_000

type Reading = { at: number; status: Promise<Status> }
const readings = new WeakMap<Context, Reading>()

export const getStatus = endpoint(operations.getStatus, async ctx => sharedStatus(ctx))

function sharedStatus(ctx: Context): Promise<Status> {
  const latest = readings.get(ctx)
  if (latest && performance.now() - latest.at < sharedMs) return latest.status
  const reading = { at: performance.now(), status: readStatus(ctx) }
  readings.set(ctx, reading)
  return reading.status
}

async function readStatus({ pool, queue }: Context): Promise<Status> {
  const [{ dispatchers, schedulers }, queueState] = await Promise.all([readProcessState(pool), stateOf(queue)])
  const present = ({ live, lastSeenAt }: typeof dispatchers) => ({
    live,
    last_seen_at: lastSeenAt?.toISOString() ?? null,
  })
  return { dispatchers: present(dispatchers), schedulers: present(schedulers), queue: queueState }
}

async function stateOf(queue: Context['queue']): Promise<Status['queue']> {
  if (queue === null) return 'none'
  return withinMs(queuePatienceMs, () => queue.ping()).then(
    () => 'up',
    () => 'down',
  )
}
