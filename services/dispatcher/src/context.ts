import { createSecretKey } from 'node:crypto'
import { cancelMissed } from '@belfry/db/cron-jobs/cancel-missed'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { readTenants } from '@belfry/db/organizations/tenants'
import { openDatabaseClock } from '@belfry/db/postgres/database-clock'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { waitForDatabase } from '@belfry/db/postgres/retry-database'
import { readQstashSigningKeys } from '@belfry/db/qstash/signing-keys'
import { findMasterKeyProblem } from '@belfry/db/secrets/data-keys'
import { readSecrets } from '@belfry/db/secrets/secrets'
import { readSigningSecrets, readSubscriptionSecrets } from '@belfry/db/secrets/signing-secrets'
import { isCallbackId } from '@belfry/domain/id'
import { openQueue } from '@belfry/queue'
import { ConfigError, createWaker, frequentLine, type Host, type Logger, openMeter, steadyTime } from '@belfry/runtime'
import { createAttemptsInFlight } from './attempt/attempts-in-flight.ts'
import { createIdentity } from './attempt/build-request.ts'
import { createHeldClaims } from './attempt/held-claims.ts'
import { createSendFence } from './attempt/send-fence.ts'
import { openSendJournal } from './attempt/send-journal.ts'
import { openServedTimes } from './attempt/served-times.ts'
import type { Config } from './config.ts'
import { openConnections } from './connections/open-connections.ts'
import { createOwnListeners } from './egress/own-listeners.ts'
import { createResolver } from './egress/resolve-name.ts'
import { createSender } from './egress/send.ts'
import { createTlsSenders } from './egress/tls-senders.ts'
import { createBacklog } from './intake/backlog.ts'
import { createDueTimers } from './intake/due-timers.ts'
import { createShare } from './intake/share.ts'
import { type BufferedTask, createTaskBuffer } from './intake/task-buffer.ts'
import { createTenants } from './intake/tenants.ts'
import { type Metrics, openMetrics } from './metrics.ts'
import { openOutbox } from './outbox/outbox.ts'
import { createHostQueues } from './scheduling/host-queues.ts'
import { toSigningKey, toSigningKeys } from './secrets/sign.ts'
import { createWorkspaceCache } from './secrets/workspace-cache.ts'
import { batchSize, openBatches } from './statements/batched-statements.ts'

/** What a dispatcher holds, from its start to its end. */
export type Context = Awaited<ReturnType<typeof openContext>>

/** @param quarantine - Whether this process makes attempts of quarantined tasks only. Default: false. */
export async function openContext(config: Config, log: Logger, host: Host, quarantine = false) {
  const { stop } = host
  const { concurrency, masterKeys, tiers } = config
  const onError = (error: Error) => log.warn({ err: error }, 'connection.error')
  const name = 'belfry-dispatcher'
  const pool = openPool(config.databaseUrl, { name, max: 6, onError, plansOnce: true, lockTimeoutMs: 1_000 })
  await waitForDatabase(pool, log, stop)
  const problem = await findMasterKeyProblem(pool, masterKeys)
  if (problem !== null) throw new ConfigError([`ENCRYPTION_KEYS: ${problem}`])
  const metrics = openMetrics(openMeter('dispatcher', host.registry))
  const keys = cacheKeys(pool, config)
  const egress = await openEgress(config, host)
  const { sender } = egress
  const identity = createIdentity(config.abuseContact, masterKeys)
  const clock = await openDatabaseClock(pool)
  const livenessPool = openPool(config.databaseUrl, { name, max: 2, onError, plansOnce: true, commitsAsync: true })
  const onStart = () => endMissed(pool, metrics, log)
  const dispatcher = await enter(livenessPool, config, quarantine ? null : onStart, host)
  const backlogWaker = createWaker()
  const now = steadyTime
  const { queueConnection, queue } = await openQueue(config, onError)
  const tenants = createTenants(ids => readTenants(pool, ids), tiers)
  return {
    log,
    /** Writes the log line of a finished attempt. It must not contain credentials. */
    logAttempt: frequentLine(log, 'attempt.finished'),
    /** The part of the successful attempts that it shows, in percent. */
    attemptLogPercent: config.attemptLogPercent,
    metrics,
    /** Null when tracing is off. */
    tracing: host.tracing?.of('dispatcher') ?? null,
    /** Aborted when the process is to stop: attempts must not start after that. */
    stop,
    pool,
    /** For the heartbeat and the send journal: they must not wait behind other statements. */
    livenessPool,
    clock,
    queueConnection,
    /** Null without a Redis: dispatchers then find due tasks in PostgreSQL. */
    queue,
    ...egress,
    identity,
    ...keys,
    ...openConnections({ pool, ...egress }, config),
    connectionTestsWaker: createWaker(),
    batches: openBatches({ pool, dispatcher, log, tiers, metrics, concurrency, stop }),
    /** This process among all dispatchers, with its heartbeat. */
    dispatcher,
    fence: createSendFence(dispatcher),
    served: await openServedTimes(pool, dispatcher.id, clock),
    journal: openSendJournal(livenessPool, dispatcher, error => log.warn({ err: error }, 'journal.failed')),
    held: createHeldClaims(now),
    // As many attempts may wait for their record as there are slots, and at least a batch.
    attempts: createAttemptsInFlight(concurrency + Math.max(concurrency, batchSize)),
    /** Every task that this process has taken and not claimed for an attempt. */
    buffer: createTaskBuffer(),
    /** The buffered tasks that are not due yet. */
    timers: createDueTimers<BufferedTask>(() => clock.now()),
    /**
     * The buffered tasks that are due and wait for an access token. They wait without a claim and a slot. Otherwise their
     * calls would all start together when a slow token endpoint answers.
     */
    deferred: new Map<BufferedTask, Promise<unknown>>(),
    tenants,
    /** Woken when the tenants may have changed. */
    tenantsWaker: createWaker(),
    /** Woken when a circuit breaker has changed, here or in another dispatcher. */
    circuitsWaker: createWaker(),
    /** The buffered tasks that are due. */
    hostQueues: createHostQueues<BufferedTask>({
      slots: concurrency,
      slowPlaces: config.slowCalls,
      permitsPerHost: config.hostConcurrency,
      startsPerHost: config.hostRate === 0 ? null : { count: config.hostRate, periodMs: 1_000 },
      circuitRules: config.circuitRules,
      isExempt: task => isCallbackId(task.id),
      now,
      tenantOf: workspace => tenants.find(workspace),
    }),
    /** How long a host may ask all calls of a workspace to pause with `Retry-After`; 0: it may not. */
    retryAfterMaxMs: config.retryAfterMaxMs,
    backlog: createBacklog(backlogWaker.wake),
    /** Woken when a workspace enters the backlog. */
    backlogWaker,
    /** Woken when claims are prefetched. */
    prefetchWaker: createWaker(),
    /** The part of the tasks in PostgreSQL that this dispatcher takes. */
    share: createShare(dispatcher.id),
    outbox: openOutbox(
      { pool, log, metrics, masterKeys, sender, identity, signingKeys: keys.signingKeys, publicUrl: config.publicUrl },
      config.mail,
    ),
  }
}

async function enter(
  pool: Pool,
  { concurrency: slots, hostConcurrency: permitsPerHost }: Config,
  onStart: (() => Promise<void>) | null,
  host: Host,
) {
  const capacity = { slots, permitsPerHost }
  if (onStart === null) return enterDispatchers(pool, true, capacity)
  if (!__VIRTUAL_CLOCK__ || !host.virtualClock) return enterDispatchers(pool, false, capacity, onStart)
  await onStart()
  return enterDispatchers(pool, false, capacity) // the virtual clock skips heartbeats, but never work
}

// Before a heartbeat shows that this process takes tasks: an occurrence is missed when nothing could start it.
async function endMissed(pool: Pool, metrics: Metrics, log: Logger): Promise<void> {
  const missed = await cancelMissed(pool)
  metrics.missed(missed)
  if (missed > 0) log.warn({ missed }, 'occurrences.missed')
}

export async function closeContext(ctx: Context): Promise<void> {
  await Promise.all([ctx.queue?.close(), ctx.sender.close()])
  await Promise.all([ctx.pool.end(), ctx.livenessPool.end()])
}

// The secrets and keys of workspaces, each at most five seconds old.
function cacheKeys(pool: Pool, { masterKeys }: Config) {
  return {
    secrets: createWorkspaceCache(ids => readSecrets(pool, masterKeys, ids)),
    signingKeys: createWorkspaceCache(ids => converted(readSigningSecrets(pool, masterKeys, ids), toSigningKeys)),
    /** The keys of the secrets of subscriptions, by subscription. */
    subscriptionKeys: createWorkspaceCache(ids =>
      converted(readSubscriptionSecrets(pool, masterKeys, ids), all => all.map(({ value }) => toSigningKey(value))),
    ),
    messageKeys: createWorkspaceCache(ids =>
      converted(readQstashSigningKeys(pool, masterKeys, ids), ({ current }) => createSecretKey(Buffer.from(current))),
    ),
  }
}

async function converted<Read, Value>(reading: Promise<ReadonlyMap<string, Read>>, convert: (read: Read) => Value) {
  return new Map(Array.from(await reading, ([id, read]) => [id, convert(read)]))
}

async function openEgress(config: Config, { ports }: Host) {
  const resolve = createResolver()
  const ownListeners = createOwnListeners(config.ownListeners, resolve, ports)
  await ownListeners.refresh()
  const { allowedPrivateTargets, blockedTargets, egressProxy: proxy } = config
  const rules = { allowedPrivateTargets, blockedTargets, listeners: ownListeners, proxy, resolve }
  const sender = createSender(rules)
  const tlsSenders = createTlsSenders(secureContext => createSender({ ...rules, secureContext }))
  const closeAll = async () => void (await Promise.all([sender.close(), tlsSenders.close()]))
  return { ownListeners, sender: { start: sender.start, send: sender.send, close: closeAll }, tlsSenders }
}
