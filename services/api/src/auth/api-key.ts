import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Cidr, isWithin, networkOf, parseCidrs } from '@belfry/domain/address'
import { AppError } from '@belfry/domain/app-error'
import type { TierName } from '@belfry/domain/tiers'
import { steadyTime } from '@belfry/runtime'
import type { Request } from 'express'
import { LRUCache } from 'lru-cache'
import type { Context } from '../context.ts'
import { logCaller } from '../http/request-log.ts'
import { suspended } from './find-user.ts'
import { isAskedAgain, spend } from './rate-limits.ts'

type FoundRow = Omit<FoundApiKey, 'allowedRanges'> & {
  ranges: string[]
  expiresInMs: number | null
}

/**
 * Finds the API key that a request carries, and counts the request.
 * @throws AppError `unauthenticated` unless the key is in force, `forbidden` outside of its address ranges, `suspended`
 * when its workspace is, `rate_limited` when it has sent too many requests.
 */
export async function findApiKey(ctx: Context, request: Request, text: string, address: string): Promise<FoundApiKey> {
  const hash = hashTextOf(text)
  const found = ctx.apiKeys.get(hash) ?? (await findInForce(ctx, text, hash, address))
  const { organizationId, workspaceId, keyId } = found
  logCaller(request, { organizationId, workspaceId, keyId })
  // Before the request counts: others with a copy of the key do not use up its limit.
  const { allowedRanges } = found
  if (allowedRanges.length > 0 && !isWithin(address, allowedRanges)) {
    throw new AppError('forbidden', `This API key may not be used from ${address}.`)
  }
  const { requestsPerSecond } = ctx.config.tiers[found.tier]
  if (!isAskedAgain(request)) spend(ctx, request, 'key', found.allowanceId, requestsPerSecond)
  if (found.isUseStale) recordUse(ctx, found, address)
  if (found.isSuspended) throw suspended('workspace')
  return found
}

async function findInForce(ctx: Context, text: string, hash: string, address: string): Promise<FoundApiKey> {
  const refused = new AppError('unauthenticated', 'The API key is unknown, expired or revoked.')
  if (ctx.rejectedKeys.has(hash)) throw refused
  ctx.rejectedKeys.check(hash, address)
  const found = isApiKey(text) ? await findByHash(ctx, hash) : undefined
  if (!found) {
    ctx.rejectedKeys.add(hash, address)
    throw refused
  }
  ctx.rejectedKeys.remember(hash)
  return found
}

// SQL: whether a key `k` of a workspace `w` is in force, unless the workspace is suspended.
const isInForce = `
  k.revoked_at IS NULL AND w.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`

/** Checks a key in the database, past the cache and the replica. Throws `unauthenticated` when the key is no longer in force. */
export async function requireApiKeyInForce(ctx: Context, keyId: string): Promise<void> {
  const { rowCount } = await ctx.primary.query({
    name: 'is_api_key_in_force',
    text: `SELECT FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
           WHERE k.id = $1 AND ${isInForce} AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = w.id)`,
    values: [keyId],
  })
  if (rowCount !== 1) throw new AppError('unauthenticated', 'The API key has expired or was revoked.')
}

async function findByHash(ctx: Context, hash: string): Promise<FoundApiKey | undefined> {
  const { rows } = await ctx.pool.query<FoundRow>({
    name: 'find_api_key',
    text: `SELECT k.id AS "keyId", coalesce(k.federated_credential_id, k.id) AS "allowanceId", k.workspace_id AS "workspaceId", w.organization_id AS "organizationId", o.tier, k.scopes,
             k.allowed_ranges AS ranges,
             EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = w.id) AS "isSuspended",
             extract(epoch FROM k.expires_at - clock_timestamp())::float8 * 1000 AS "expiresInMs",
             coalesce(k.last_used_at < now() - interval '1 minute', true) AS "isUseStale"
           FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id JOIN organizations o ON o.id = w.organization_id
           WHERE k.hash = $1 AND ${isInForce}`,
    values: [Buffer.from(hash, 'base64')],
  })
  if (!rows[0]) return undefined
  const { expiresInMs, ranges, ...row } = rows[0]
  const found = { ...row, allowedRanges: ranges.flatMap(parseCidrs) }
  // The cache takes a time of 0 as unlimited.
  ctx.apiKeys.set(hash, found, { ttl: Math.max(1, Math.min(cachedMs, expiresInMs ?? cachedMs)) })
  return found
}

// The response does not wait for it.
function recordUse(ctx: Context, found: FoundApiKey, address: string): void {
  const { keyId, workspaceId } = found
  found.isUseStale = false
  const text = `
    UPDATE api_keys SET last_used_at = now(), last_used_address = $3 WHERE id = $1 AND workspace_id = $2
    AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`
  ctx.pool
    .query({ name: 'record_api_key_use', text, values: [keyId, workspaceId, address] })
    .catch(error => ctx.log.warn({ err: error }, 'api_key.use_not_recorded'))
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 32
const checksumLength = 6
const form = /^bf_[0-9A-Za-z]{22,64}$/

/** Makes an API key: `bf_`, 190 random bits in base62, and a checksum by which scanners recognize a leaked key. */
export function createApiKeyText() {
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const key = `bf_${secret}${checksum(secret)}`
  return { key, prefix: key.slice(0, 8), hash: hashApiKey(key) }
}

/** Returns whether a text has the form of a key, so a typo is rejected without a query. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(3, -checksumLength)) === text.slice(-checksumLength)
}

export function hashApiKey(key: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(hashTextOf(key), 'base64'))
}

export function hashTextOf(key: string): string {
  return hash('sha256', key, 'base64')
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % alphabet.length] + text
    rest = Math.floor(rest / alphabet.length)
  }
  return text
}

/** An API key that is in force, and its owner. */
type FoundApiKey = {
  keyId: string
  /** Whose requests per second the key uses: the key itself, or its federated credential, shared by many keys. */
  allowanceId: string
  workspaceId: string
  organizationId: string
  tier: TierName
  scopes: readonly string[]
  /** Where the key may be used from. Empty: anywhere. */
  allowedRanges: readonly Cidr[]
  isSuspended: boolean
  /** Whether the time of the latest use is still to be written. */
  isUseStale: boolean
}

/** API keys that were found, by the base64 of their hashes. */
export type ApiKeyCache = LRUCache<string, FoundApiKey>

/** How long a key is cached: a revocation is in force everywhere within this time. */
const cachedMs = 5_000

type Clock = { now(): number }

const options = { max: 10_000, ttlResolution: 0 }

export function createApiKeyCache(clock: Clock = { now: steadyTime }): ApiKeyCache {
  return new LRUCache({ ...options, ttl: cachedMs, perf: clock })
}

/** Drops the keys that have just been revoked. Other processes cache them for up to `cachedMs`. */
export function forgetApiKeys(cache: ApiKeyCache, isRevoked: (key: FoundApiKey) => boolean): void {
  for (const [hash, key] of cache.entries()) if (isRevoked(key)) cache.delete(hash)
}

const burst = 100
const everyMs = 1_000
const rejectedMs = 60_000
const rememberedMs = 24 * 3_600_000

/** Counts rejected keys: an address may send a hundred at once, and one more each second. */
export function createRejectedKeys(clock: Clock = { now: steadyTime }) {
  const rejected = new LRUCache<string, true>({ ...options, ttl: rejectedMs, perf: clock })
  const right = new LRUCache<string, true>({ ...options, ttl: rememberedMs, perf: clock })
  // When all keys that an address has sent are paid for.
  const freeAt = new LRUCache<string, number>(options)
  return {
    /**
     * Returns whether a key was rejected within the last minute; it cannot have become valid since. Further calls with
     * a revoked key are refused without a query, and do not lock out others at the caller's address.
     */
    has: (hash: string) => rejected.has(hash),
    /**
     * Throws `rate_limited` when an address has sent too many different ones. A key that was right within a day passes: an
     * address can belong to an office, and those who guess do not lock out their neighbors.
     */
    check(hash: string, address: string) {
      if (right.has(hash)) return
      const waitMs = (freeAt.get(networkOf(address)) ?? 0) - clock.now() - (burst - 1) * everyMs
      if (waitMs <= 0) return
      const message = 'Too many wrong API keys came from your address. Try again later.'
      throw new AppError('rate_limited', message, { retryAfterMs: waitMs })
    },
    add(hash: string, address: string) {
      const network = networkOf(address)
      rejected.set(hash, true)
      right.delete(hash)
      freeAt.set(network, Math.max(freeAt.get(network) ?? 0, clock.now()) + everyMs)
    },
    remember: (hash: string) => void right.set(hash, true),
  }
}
