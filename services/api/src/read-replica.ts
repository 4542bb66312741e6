import type { Right } from '@belfry/contract/operation'
import { openReplica, preferReplica, type Replica } from '@belfry/db/postgres/open-replica'
import type { Pool } from '@belfry/db/postgres/pool'
import { scopeTo } from '@belfry/db/postgres/scope-to'
import { every } from '@belfry/runtime'
import type { Request } from 'express'
import { LRUCache } from 'lru-cache'
import type { CallerOf } from './auth/authorize.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'

/** The replica of the database, and when each credential of this process changed something last. */
type ReadReplica = { replica: Replica; latestWrites: LRUCache<string, number> }

type Caller = Exclude<CallerOf<Right>, null>

const connections = 10
const measuredEveryMs = 500

/** Opens the replica of the settings. Null without one. */
export function openReadReplica(config: Config, primary: Pool, onError: (error: Error) => void): ReadReplica | null {
  if (config.readReplica === null) return null
  const { url, maxLagMs } = config.readReplica
  const replica = openReplica(primary, url, { name: 'belfry-api', max: connections, maxLagMs, onError })
  // A replica older than the bound is not read, so older writes need not be remembered.
  return { replica, latestWrites: new LRUCache({ max: 100_000, ttl: maxLagMs }) }
}

/** Exports the age of the replica, and measures it until the process stops. */
export async function followReplica({ metrics, log, stopping, readReplica }: Context): Promise<void> {
  const help = 'How old the data of the read replica is at most; without a value while it is unknown.'
  metrics.meter.gauges('belfry_replica_age_seconds', help, [], () => {
    const ageMs = readReplica?.replica.ageMs() ?? Number.POSITIVE_INFINITY
    return ageMs === Number.POSITIVE_INFINITY ? [] : [[{}, ageMs / 1000]]
  })
  metrics.meter.gauges('belfry_replica_stale', '1 while the read replica is too old to be read, else 0.', [], () => [
    [{}, readReplica === null || readReplica.replica.isFresh(Number.NEGATIVE_INFINITY) ? 0 : 1],
  ])
  if (readReplica === null) return
  const { replica } = readReplica
  const onError = (err: unknown) => log.warn({ err }, 'replica.unknown')
  return every({ intervalMs: measuredEveryMs, run: replica.measure, onError }, stopping)
}

/** Records that a caller has changed something, if it has. */
export function recordWrite({ readReplica }: Context, { method }: Request, caller: Caller | null): void {
  if (readReplica && method !== 'GET' && caller) readReplica.latestWrites.set(credentialOf(caller), performance.now())
}

/**
 * Returns a view of the pool that reads from the replica, if there is one, only rows of the caller's tenant. It uses the
 * primary until the replica has the caller's latest write of this process, and when the caller asks for it.
 */
export function readsOfReplica(
  { readReplica, pool, metrics }: Context,
  request: Request,
  caller: Caller & { organizationId: string },
): Pool {
  const primary = scopeTo(pool, caller)
  if (readReplica === null || request.headers['x-belfry-read'] === 'primary') return primary
  const { replica, latestWrites } = readReplica
  const since = latestWrites.get(credentialOf(caller)) ?? Number.NEGATIVE_INFINITY
  return preferReplica(primary, replica, scopeTo(replica.pool, caller), since, metrics.listRead)
}

function credentialOf(caller: Caller): string {
  if ('apiKeyId' in caller && caller.apiKeyId !== null) return caller.apiKeyId
  const user = 'user' in caller ? caller.user : caller
  return user !== null && 'userId' in user ? user.userId : 'operator'
}
