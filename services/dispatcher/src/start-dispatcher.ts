import { setTimeout as sleep } from 'node:timers/promises'
import { dueTaskChannel, inspectDatabase, leaveDispatchers, listen, outboxChannel, pingPool } from '@belfry/db'
import { consumeDispatchQueue } from '@belfry/queue'
import { every, type Host, type Logger, measureDependencies, type Service } from '@belfry/runtime'
import { type Config, describeEgress } from './config.ts'
import { type Context, openContext } from './context.ts'
import { giveBackAll } from './intake/give-back.ts'
import { createUpcomingReader } from './intake/read-upcoming.ts'
import { createNoticeTaker } from './intake/take-notices.ts'
import { takeTasks } from './intake/take-tasks.ts'
import { heartbeat, loops } from './loops.ts'
import { measureRoom } from './metrics.ts'
import { superviseQuarantine } from './quarantine/supervise-quarantine.ts'

// A job is done once its tasks are buffered, so few are enough. BullMQ's worker starts none before it has taken as many as
// wait, or as it may, one by one: more would make the first ones late.
const jobsAtOnce = 50
const patienceMs = 25_000
// Closing waits for a store that is away, and what the store has is only a copy.
const queuePatienceMs = 2_000

/**
 * Starts taking due tasks from the queue.
 * @param program - What runs the quarantine in processes of its own: see `superviseQuarantine`. Default: nothing.
 */
export async function startDispatcher(config: Config, log: Logger, host: Host, program?: string): Promise<Service> {
  const { stop } = host
  const egress = describeEgress(config)
  log.info({ egress }, 'egress.rules')
  const ctx = await openContext(config, log, host)
  const { pool, queue } = ctx
  const checks = { database: () => pingPool(pool), ...(queue && { queue: () => queue.ping() }) }
  measureRoom(ctx, config.concurrency)
  measureDependencies(ctx.metrics.meter, checks)
  if (host.operators) ctx.ownListeners.add({ host: '127.0.0.1', port: host.operators.port })
  const upcoming = createUpcomingReader(ctx)
  const running = loops(ctx, upcoming).map(loop => every(loop, stop))
  const end = new AbortController()
  const onLive = (live: string[]) => {
    if (ctx.share.divide(live)) upcoming.rewind()
  }
  const beating = every(heartbeat(ctx, onLive), end.signal)
  const quarantine = program === undefined ? null : superviseQuarantine(ctx, program)
  const reading = upcoming.run()
  const notices = listen(config.databaseUrl, [dueTaskChannel, outboxChannel], {
    onNotification: createNoticeTaker(ctx, upcoming),
    onConnect() {
      upcoming.rewind()
      ctx.outbox.wake()
    },
    onError: error => log.warn({ err: error }, 'notices.unavailable'),
  })
  const consumer =
    ctx.queueConnection &&
    consumeDispatchQueue(ctx.queueConnection, {
      concurrency: jobsAtOnce,
      take: (tasks, signal) => takeTasks(ctx, tasks, signal),
    })
  host.operators?.report({ checks, warnings: () => inspectDatabase(pool), about: { egress } })
  return {
    async drain() {
      const consumers = atMost(queuePatienceMs, Promise.resolve(consumer?.close()))
      await Promise.all([
        consumers.then(() => giveBackAll(ctx)),
        giveBackAll(ctx),
        ctx.attempts.finish(patienceMs, () => ctx.sender.close()),
        ctx.outbox.finish(patienceMs),
        quarantine?.close(),
        reading,
        notices.close(),
        ...running,
      ])
      await leave(ctx)
      end.abort()
      await beating
      await atMost(queuePatienceMs, ctx.close())
    },
  }
}

/** Undoes the claims that this process has not sent. Without this a scheduler would do so seconds later. */
export async function leave(ctx: Context): Promise<void> {
  try {
    const { undone } = await leaveDispatchers(ctx.pool, ctx.dispatcher.id, ctx.held.isAbandoned)
    if (undone.length > 0) ctx.log.info({ tasks: undone.length }, 'claims.undone')
  } catch (error) {
    ctx.log.warn({ err: error }, 'dispatcher.left_without_notice')
  }
}

async function atMost(ms: number, closing: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([closing, sleep(ms, undefined, { signal: timer.signal })]).finally(() => timer.abort())
}
