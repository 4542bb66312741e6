import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@belfry/test-support/wait-for'
import { inMs } from '../api-calls.ts'
import { type Belfry, type QueueBackend, startBelfry } from '../belfry.ts'
import { type QueueTarget, startQueueTarget } from './queue-target.ts'

export type KillPlan = {
  backend: QueueBackend
  dispatchers: number
  queues: number
  tasksEach: number
  /** The limits of each queue. */
  limits: Record<string, unknown>
  kills: number
  callMs: number
  statusOf?: (queue: string, index: number) => number
  retry?: Record<string, unknown>
}

export type KillReport = {
  target: QueueTarget
  names: string[]
  /** Tasks that are not in the state `success` at the end. */
  undelivered: number
  /** When dispatchers were killed, by `performance.now()`. */
  killedAt: number[]
  durationMs: number
}

/** How long a killed dispatcher keeps its permits: until a scheduler has ended it. */
export const permitsOfDeadMs = 20_000

/** Delivers tasks of many queues while dispatchers are killed with SIGKILL and replaced. */
export async function deliverWhileKilling(plan: KillPlan): Promise<KillReport> {
  const { backend, dispatchers, queues, tasksEach, limits, kills, callMs, statusOf, retry } = plan
  const target = await startQueueTarget(callMs, statusOf)
  const belfry = await startBelfry(backend, { env: { HOST_CONCURRENCY: '500' } })
  try {
    const running = belfry.services.filter(({ name }) => name === 'dispatcher')
    while (running.length < dispatchers) running.push(await belfry.start('dispatcher'))
    const names = Array.from({ length: queues }, (_, i) => `queue-${i}`)
    await createTasks(belfry, target, names, tasksEach, { limits, retry })
    const began = performance.now()
    const killedAt: number[] = []
    const remaining = async () => {
      const [row] = await belfry.execute(`SELECT count(*)::int AS n FROM tasks WHERE finished_at IS NULL`)
      return Number(row?.n)
    }
    await waitFor(
      async () => target.calls.length,
      calls => calls > 0,
      30_000,
    )
    for (let i = 0; i < kills && (await remaining()) > 0; i++) {
      await sleep(800 + Math.random() * 1_200)
      const victim = running.shift()
      killedAt.push(performance.now())
      await victim?.stop('SIGKILL')
      running.push(await belfry.start('dispatcher'))
    }
    await waitFor(remaining, left => left === 0, 240_000)
    const [row] = await belfry.execute(`SELECT count(*)::int AS n FROM tasks WHERE state <> 'success'`)
    return { target, names, undelivered: Number(row?.n), killedAt, durationMs: performance.now() - began }
  } finally {
    await belfry.close()
    await target.close()
  }
}

async function createTasks(
  belfry: Belfry,
  target: QueueTarget,
  names: readonly string[],
  tasksEach: number,
  { limits, retry }: { limits: Record<string, unknown>; retry: Record<string, unknown> | undefined },
): Promise<void> {
  const at = Date.parse(inMs(4_000))
  const tasks = Array.from({ length: tasksEach }, (_, index) =>
    names.map(name => ({
      name: `${name} ${index}`,
      url: target.url(name, index),
      method: 'POST',
      execute_at: new Date(at + index).toISOString(),
      queue: { name, ...limits },
      timeout_ms: 10_000,
      ...(retry ? { retry } : {}),
    })),
  ).flat()
  for (let i = 0; i < tasks.length; i += 1_000) {
    const { body } = await belfry.call('POST', '/api/v1/scheduler/tasks/batch', { tasks: tasks.slice(i, i + 1_000) })
    const refused = body.data.find((row: { error?: unknown }) => row.error)
    if (refused) throw new Error(JSON.stringify(refused))
  }
}

/** Returns the first index of each call of a queue that succeeded, in the order of the calls. */
export function successesInOrder(target: QueueTarget, queue: string): number[] {
  return [...new Set(target.succeeded(queue))]
}
