import { type KeyObject, randomUUID } from 'node:crypto'
import {
  type DatabaseClock,
  findMasterKeyProblem,
  openDatabaseClock,
  openPool,
  type Pool,
  readSecrets,
  readSigningSecrets,
  stepPromotionBack,
  waitForDatabase,
} from '@belfry/db'
import {
  type DeadLetterQueue,
  type DispatchQueue,
  type DueTask,
  isSoon,
  openDeadLetterQueue,
  openDispatchQueue,
  type QueueConnection,
} from '@belfry/queue'
import {
  ConfigError,
  type Logger,
  openMeter,
  openTracing,
  type PlainMembers,
  plainLines,
  type Tracing,
} from '@belfry/runtime'
import { type Attempts, createAttempts } from './attempts.ts'
import { type BatchedStatements, batchSize, batchStatements } from './batched-statements.ts'
import type { Config } from './config.ts'
import { createOwnListeners, type OwnListeners } from './egress/own-listeners.ts'
import { createResolver } from './egress/resolve-name.ts'
import { createSender, type Sender } from './egress/send.ts'
import { type Backlog, createBacklog } from './intake/backlog.ts'
import { createHand, type Hand, type TaskInHand } from './intake/hand.ts'
import { createInstants, type Instants } from './intake/instants.ts'
import { createLines, type Lines, type Turn } from './intake/lines.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { type Outbox, openOutbox } from './outbox/open-outbox.ts'
import { toSigningKey } from './secrets/sign.ts'
import { createWorkspaceCache, type WorkspaceCache } from './secrets/workspace-cache.ts'

/** Everything that an attempt needs. */
export type Context = BatchedStatements & {
  /** This process, among all dispatchers. */
  id: string
  log: Logger
  /** Writes the line of an attempt. */
  logAttempt(members: PlainMembers): void
  pool: Pool
  clock: DatabaseClock
  queue: DispatchQueue
  queueConnection: QueueConnection
  deadLetters: DeadLetterQueue
  sender: Sender
  ownListeners: OwnListeners
  /** What deliveries of a workspace are signed with, and its secrets by name: as they were at most five seconds ago. */
  signingKeysOf: WorkspaceCache<KeyObject[]>
  secretsOf: WorkspaceCache<ReadonlyMap<string, string>>
  /** The tasks that this process has in hand: those that wait for their instant, and those whose instant has come. */
  hand: Hand
  waiting: Instants<TaskInHand>
  lines: Lines<TaskInHand>
  /** Turns whose calls have ended within this turn of the event loop. */
  ended: Turn<TaskInHand>[]
  backlog: Backlog
  /** Sends messages to people. */
  outbox: Outbox
  attempts: Attempts
  metrics: Metrics
  /** Null when nobody asks for traces. */
  tracing: Tracing | null
  /** Aborted when the process is to stop: from then on nothing is started. */
  stop: AbortSignal
  /** Adds jobs for what is due soon. Never rejects: PostgreSQL knows, and the scheduler repairs. */
  enqueue(tasks: DueTask[], now: number): Promise<void>
  close(): Promise<void>
}

export async function openContext(config: Config, log: Logger, stop: AbortSignal): Promise<Context> {
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: 6, onError, plansOnce: true, lockTimeoutMs: 1_000 })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), stop)
  const { masterKeys } = config
  const problem = await findMasterKeyProblem(pool, masterKeys)
  if (problem !== null) throw new ConfigError(`The configuration is wrong:\n  ENCRYPTION_KEYS: ${problem}`)
  const queueConnection = {
    redisUrl: config.redisUrl,
    shards: config.queueShards,
    databaseUrl: config.databaseUrl,
    onError,
  }
  const queue = openDispatchQueue(queueConnection)
  const deadLetters = openDeadLetterQueue(queueConnection)
  const resolve = createResolver()
  const listeners = createOwnListeners(config.ownListeners, resolve)
  await listeners.refresh()
  const { allowedPrivateTargets, egressProxy: proxy } = config
  const sender = createSender({ allowedPrivateTargets, listeners, proxy, resolve })
  const metrics = openMetrics(openMeter('dispatcher'))
  const tracing = config.traces ? await openTracing('dispatcher', log) : null
  const signingKeysOf = createWorkspaceCache(async ids => {
    const secrets = await readSigningSecrets(pool, masterKeys, ids)
    return new Map(Array.from(secrets, ([id, all]) => [id, all.map(({ value }) => toSigningKey(value))]))
  })
  const clock = await openDatabaseClock(pool)
  return {
    ...batchStatements({ pool, log, tiers: config.tiers, metrics, concurrency: config.concurrency, stop }),
    id: randomUUID(),
    log,
    logAttempt: plainLines(log, 'attempt.finished'),
    pool,
    clock,
    queue,
    queueConnection,
    deadLetters,
    sender,
    ownListeners: listeners,
    signingKeysOf,
    secretsOf: createWorkspaceCache(ids => readSecrets(pool, masterKeys, ids)),
    hand: createHand(),
    waiting: createInstants(() => clock.now()),
    lines: createLines({
      slots: config.concurrency,
      placesPerHost: config.hostConcurrency,
      now: () => performance.now(),
    }),
    ended: [],
    backlog: createBacklog(),
    outbox: openOutbox({ pool, log, metrics, masterKeys, sender, signingKeysOf }, config.mail),
    // As many may wait to be recorded as there may be calls, and enough for a batch.
    attempts: createAttempts(config.concurrency + Math.max(config.concurrency, batchSize), error =>
      log.error({ err: error }, 'attempt.fault'),
    ),
    metrics,
    tracing,
    stop,
    async enqueue(tasks, now) {
      const soon = tasks.filter(task => isSoon(task.dueAt, now))
      if (soon.length === 0) return
      try {
        await queue.schedule(soon, now)
      } catch (error) {
        log.warn({ err: error }, 'queue.away')
        metrics.queueAway()
        await stepPromotionBack(pool).catch(onError)
      }
    },
    async close() {
      await Promise.all([queue.close(), deadLetters.close(), sender.close()])
      await pool.end()
      await tracing?.close()
    },
  }
}
