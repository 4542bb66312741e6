import { setTimeout as sleep } from 'node:timers/promises'
import { inspectDatabase } from '@belfry/db/postgres/inspect-database'
import { listen } from '@belfry/db/postgres/listen'
import {
  circuitsChannel,
  connectionTestsChannel,
  dueTaskChannel,
  outboxChannel,
  tenantsChannel,
} from '@belfry/db/postgres/notices'
import { pingPool } from '@belfry/db/postgres/pool'
import { version } from '@belfry/domain/version'
import type { QueueConnection } from '@belfry/queue'
import {
  every,
  everyInTurn,
  type Host,
  type Logger,
  measureDependencies,
  measurePool,
  reportBuild,
  type Service,
  steadyTime,
} from '@belfry/runtime'
import { chores } from './chores.ts'
import { type Config, describeEgress } from './config.ts'
import { type Context, closeContext, openContext } from './context.ts'
import { shareCircuits } from './intake/circuits.ts'
import { createUpcomingReader, type UpcomingReader } from './intake/read-upcoming.ts'
import { requeueAll } from './intake/requeue.ts'
import { startAttempts } from './intake/start-attempts.ts'
import { takeJob } from './intake/take-job.ts'
import { createNotificationHandler } from './intake/take-notifications.ts'
import { heartbeat, leave } from './liveness.ts'
import { measureCapacity } from './metrics.ts'
import { superviseQuarantine } from './quarantine/supervise-quarantine.ts'
import { dividePermits, divideRate } from './scheduling/divide-permits.ts'
import { createVirtualDispatcher } from './virtual-clock.ts'

// A job is done once its tasks are buffered, so few jobs at a time are enough. BullMQ's worker takes jobs one by one,
// and starts them only when it has taken all that wait or as many as it may: a larger number would delay the first
// ones.
const maxJobs = 50
// Closing waits for a Redis that is away. Everything in it is only a copy, so the dispatcher does not wait for long.
const queuePatienceMs = 2_000

/**
 * Starts a dispatcher: it takes due tasks from the queue and from PostgreSQL.
 * @param program - The program that runs the quarantine in child processes: see `superviseQuarantine`. Optional.
 */
export async function startDispatcher(config: Config, log: Logger, host: Host, program?: string): Promise<Service> {
  const { stop } = host
  const egress = describeEgress(config)
  log.info({ egress }, 'egress.rules')
  const ctx = await openContext(config, log, host)
  const { pool, queue } = ctx
  const checks = { database: () => pingPool(pool), ...(queue && { queue: () => queue.ping() }) }
  reportBuild(ctx.metrics.meter, log, { version, revision: config.revision })
  measurePool(ctx.metrics.meter, pool)
  measureCapacity(ctx, config.concurrency)
  measureDependencies(ctx.metrics.meter, checks)
  // The predecessors of this process may know hosts that fail.
  await shareCircuits(ctx).catch(error => log.warn({ err: error }, 'circuits.unknown'))
  const upcoming = createUpcomingReader(ctx)
  const running = everyInTurn(chores(ctx, upcoming), stop)
  const end = new AbortController()
  const onLive = (live: string[]) => {
    const isDivided = ctx.share.divide(live)
    if (isDivided) divideLimits(live)
    startAttempts(ctx) // attempts have waited for the heartbeat
    if (isDivided) upcoming.rewind()
  }
  const aheadMs = () => ctx.clock.now() - steadyTime()
  const divideLimits = (live: string[]) => {
    const { id } = ctx.dispatcher
    const startsPerHost = config.hostRate === 0 ? null : divideRate(config.hostRate, live, id, aheadMs)
    ctx.hostQueues.setLimits(dividePermits(config.hostConcurrency, live, id), startsPerHost)
  }
  const beating = every(heartbeat(ctx, onLive), end.signal)
  const quarantine = program === undefined ? null : superviseQuarantine(ctx, program)
  if (__VIRTUAL_CLOCK__) host.virtualClock?.join(createVirtualDispatcher(ctx))
  const reading = upcoming.run()
  const notifications = listenTo(ctx, config, upcoming)
  const consumer = ctx.queueConnection && (await consumeQueue(ctx, ctx.queueConnection))
  host.operators?.report({ checks, warnings: () => inspectDatabase(pool), about: { egress } })
  return {
    async drain() {
      const consumers = Promise.resolve(consumer?.close())
      await Promise.all([
        consumers.then(() => requeueAll(ctx)),
        requeueAll(ctx),
        ctx.attempts.finish(config.drainMs, () => ctx.sender.close()),
        ctx.outbox.finish(config.drainMs),
        quarantine?.close(),
        reading,
        notifications.close(),
        ...running,
      ])
      end.abort()
      await beating // a heartbeat that finds no row enters again
      await leave(ctx)
      await atMost(queuePatienceMs, closeContext(ctx))
    },
  }
}

async function consumeQueue(ctx: Context, connection: QueueConnection) {
  const { consumeDispatchQueue } = await import('@belfry/queue/consume')
  return consumeDispatchQueue(connection, {
    concurrency: maxJobs,
    take: (tasks, signal) => takeJob(ctx, tasks, signal),
  })
}

function listenTo(ctx: Context, { databaseUrl }: Config, upcoming: UpcomingReader) {
  const onDueTask = createNotificationHandler(ctx, upcoming)
  const channels = [dueTaskChannel, outboxChannel, tenantsChannel, circuitsChannel, connectionTestsChannel]
  return listen(databaseUrl, channels, {
    onNotification(channel, payload) {
      if (channel === outboxChannel) ctx.outbox.wake()
      else if (channel === tenantsChannel) ctx.tenantsWaker.wake()
      else if (channel === circuitsChannel) ctx.circuitsWaker.wake()
      else if (channel === connectionTestsChannel) ctx.connectionTestsWaker.wake()
      else onDueTask(payload)
    },
    onConnect() {
      upcoming.rewind()
      ctx.outbox.wake()
      ctx.tenantsWaker.wake()
      ctx.circuitsWaker.wake()
    },
    onError: error => ctx.log.warn({ err: error }, 'notifications.unavailable'),
  })
}

async function atMost(ms: number, closing: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([closing, sleep(ms, undefined, { signal: timer.signal })]).finally(() => timer.abort())
}
