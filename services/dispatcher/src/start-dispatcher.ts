import type { AddressInfo } from 'node:net'
import { pingPool } from '@belfry/db'
import { consumeDispatchQueue, consumeOutboxQueue } from '@belfry/queue'
import { every, type Logger, measureDependencies, type Service, serveHealth } from '@belfry/runtime'
import { type Config, describeEgress } from './config.ts'
import { openContext } from './context.ts'
import { giveBackAll } from './intake/give-back.ts'
import { takeTasks } from './intake/take-tasks.ts'
import { loops } from './loops.ts'
import { measureRoom } from './metrics.ts'

// A job is done once its tasks are in hand, so few are enough. BullMQ's worker starts none before it has taken as many as
// wait, or as it may, one by one: more would make the first ones late.
const jobsAtOnce = 50
const patienceMs = 25_000

/** Starts taking due tasks from the queue. */
export async function startDispatcher(config: Config, log: Logger, stop: AbortSignal): Promise<Service> {
  const egress = describeEgress(config)
  log.info({ egress }, 'egress.rules')
  const ctx = await openContext(config, log, stop)
  const checks = { database: () => pingPool(ctx.pool), queue: () => ctx.queue.ping() }
  measureRoom(ctx, config.concurrency)
  measureDependencies(ctx.metrics.meter, checks)
  const telling = { metrics: ctx.metrics.meter, about: { egress } }
  const health = await serveHealth(config.healthPort, checks, telling)
  const { port } = health.address() as AddressInfo // listening on a port, not on a pipe
  ctx.ownListeners.add({ host: '127.0.0.1', port })
  const running = loops(ctx).map(loop => every(loop, stop))
  const consumer = consumeDispatchQueue(ctx.queueConnection, {
    concurrency: jobsAtOnce,
    take: (tasks, signal) => takeTasks(ctx, tasks, signal),
  })
  const outboxConsumer = consumeOutboxQueue(ctx.queueConnection, () => ctx.outbox.wake())
  return {
    async drain() {
      await Promise.all([consumer.close(), outboxConsumer.close()])
      await Promise.all([
        giveBackAll(ctx),
        ctx.attempts.finish(patienceMs, () => ctx.sender.close()),
        ctx.outbox.finish(patienceMs),
      ])
      await Promise.all(running)
      health.close()
      health.closeAllConnections()
      await ctx.close()
    },
  }
}
