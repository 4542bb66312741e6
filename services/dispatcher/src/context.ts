import type { KeyObject } from 'node:crypto'
import {
  type DatabaseClock,
  type DispatcherRow,
  enterDispatchers,
  findMasterKeyProblem,
  openDatabaseClock,
  openPool,
  type Pool,
  readSecrets,
  readSigningSecrets,
  type SecretValues,
  stepPromotionBack,
  waitForDatabase,
  warnOfUnfitDatabase,
} from '@belfry/db'
import {
  type DeadLetterQueue,
  type DispatchQueue,
  type DueTask,
  needsJob,
  openDeadLetterQueue,
  openDispatchQueue,
  type QueueConnection,
} from '@belfry/queue'
import { ConfigError, createWaker, type Host, type Logger, openMeter, type Tracing, type Waker } from '@belfry/runtime'
import { type Attempts, createAttempts } from './attempts.ts'
import { type BatchedStatements, batchSize, batchStatements } from './batched-statements.ts'
import type { Config } from './config.ts'
import { createOwnListeners, type OwnListeners } from './egress/own-listeners.ts'
import { createResolver } from './egress/resolve-name.ts'
import { createSender, type Sender } from './egress/send.ts'
import { createHeldClaims, type HeldClaims } from './held-claims.ts'
import { type Backlog, createBacklog } from './intake/backlog.ts'
import { createHand, type Hand, type TaskInHand } from './intake/hand.ts'
import { createInstants, type Instants } from './intake/instants.ts'
import { createLines, type Lines } from './intake/lines.ts'
import { createShare, type Share } from './intake/share.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { type Outbox, openOutbox } from './outbox/open-outbox.ts'
import { toSigningKey } from './secrets/sign.ts'
import { createWorkspaceCache, type WorkspaceCache } from './secrets/workspace-cache.ts'
import { openSendJournal, type SendJournal } from './send-journal.ts'

/** Everything that an attempt needs. */
export type Context = BatchedStatements & {
  /** This process among all dispatchers, with its heartbeat. */
  dispatcher: DispatcherRow
  journal: SendJournal
  held: HeldClaims
  log: Logger
  pool: Pool
  clock: DatabaseClock
  /** Null when there is no Redis: dispatchers find what is due in PostgreSQL. */
  queue: DispatchQueue | null
  queueConnection: QueueConnection | null
  deadLetters: DeadLetterQueue | null
  sender: Sender
  ownListeners: OwnListeners
  /** The keys that sign deliveries of a workspace, and its secrets by name: as they were at most five seconds ago. */
  signingKeys: WorkspaceCache<KeyObject[]>
  secrets: WorkspaceCache<SecretValues>
  /** The tasks that this process has in hand: those that wait for their instant, and those whose instant has come. */
  hand: Hand
  waiting: Instants<TaskInHand>
  lines: Lines<TaskInHand>
  backlog: Backlog
  /** Woken when a workspace is new in the backlog. */
  backlogged: Waker
  /** Woken when claims are prefetched. */
  prefetched: Waker
  /** Which of the tasks that every dispatcher finds in PostgreSQL this one takes. */
  share: Share
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

/** @param quarantine - Whether this process makes attempts of quarantined tasks only. Default false. */
export async function openContext(config: Config, log: Logger, host: Host, quarantine = false): Promise<Context> {
  const { stop } = host
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const pool = openPool(config.databaseUrl, { max: 6, onError, plansOnce: true, lockTimeoutMs: 1_000 })
  await waitForDatabase(pool, error => log.warn({ err: error }, 'database.waiting'), stop)
  await warnOfUnfitDatabase(pool, log)
  const { masterKeys } = config
  const problem = await findMasterKeyProblem(pool, masterKeys)
  if (problem !== null) throw new ConfigError([`ENCRYPTION_KEYS: ${problem}`])
  const { redisUrl } = config
  const queueConnection = redisUrl === null ? null : { redisUrl, shards: config.queueShards, onError }
  const queue = queueConnection && openDispatchQueue(queueConnection)
  const deadLetters = queueConnection && openDeadLetterQueue(queueConnection)
  const resolve = createResolver()
  const listeners = createOwnListeners(config.ownListeners, resolve)
  await listeners.refresh()
  const { allowedPrivateTargets, egressProxy: proxy } = config
  const sender = createSender({ allowedPrivateTargets, listeners, proxy, resolve })
  const metrics = openMetrics(openMeter('dispatcher', host.registry))
  const tracing = host.tracing?.of('dispatcher') ?? null
  const signingKeys = createWorkspaceCache(async ids => {
    const secrets = await readSigningSecrets(pool, masterKeys, ids)
    return new Map(Array.from(secrets, ([id, all]) => [id, all.map(({ value }) => toSigningKey(value))]))
  })
  const clock = await openDatabaseClock(pool)
  // Its own, so that a heartbeat never waits behind other statements.
  const livePool = openPool(config.databaseUrl, { max: 2, onError, plansOnce: true, commitsAsync: true })
  const claims = await openClaims(livePool, log, quarantine)
  const { dispatcher } = claims
  const backlogged = createWaker()
  return {
    ...batchStatements({ pool, dispatcher, log, tiers: config.tiers, metrics, concurrency: config.concurrency, stop }),
    ...claims,
    log,
    pool,
    clock,
    queue,
    queueConnection,
    deadLetters,
    sender,
    ownListeners: listeners,
    signingKeys,
    secrets: createWorkspaceCache(ids => readSecrets(pool, masterKeys, ids)),
    hand: createHand(),
    waiting: createInstants(() => clock.now()),
    lines: createLines({
      slots: config.concurrency,
      placesPerHost: config.hostConcurrency,
      now: () => performance.now(),
    }),
    backlog: createBacklog(backlogged.wake),
    backlogged,
    prefetched: createWaker(),
    share: createShare(dispatcher.id),
    outbox: openOutbox({ pool, log, metrics, masterKeys, sender, signingKeys }, config.mail),
    // As many may wait to be recorded as there may be calls, and enough for a batch.
    attempts: createAttempts(config.concurrency + Math.max(config.concurrency, batchSize), error =>
      log.error({ err: error }, 'attempt.fault'),
    ),
    metrics,
    tracing,
    stop,
    async enqueue(tasks, now) {
      const soon = tasks.filter(task => needsJob(task.dueAt, now))
      if (queue === null || soon.length === 0) return
      try {
        await queue.schedule(soon, now)
      } catch (error) {
        log.warn({ err: error }, 'queue.away')
        metrics.queueAway()
        await stepPromotionBack(pool).catch(onError)
      }
    },
    async close() {
      await Promise.all([queue?.close(), deadLetters?.close(), sender.close()])
      await Promise.all([pool.end(), livePool.end()])
    },
  }
}

async function openClaims(livePool: Pool, log: Logger, quarantine: boolean) {
  const dispatcher = await enterDispatchers(livePool, quarantine)
  const journal = openSendJournal(livePool, dispatcher, error => log.warn({ err: error }, 'journal.failed'))
  return { dispatcher, journal, held: createHeldClaims(() => performance.now()) }
}
