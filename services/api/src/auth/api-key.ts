import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { isWithin, parseCidrs } from '@belfry/domain/address'
import { AppError } from '@belfry/domain/app-error'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { logCaller } from '../http/request-log.ts'
import { cachedMs, type FoundApiKey } from './api-key-caches.ts'
import { isAskedAgain, spendKeyRequest } from './rate-limits.ts'
import { suspended } from './refuse-suspended.ts'

type FoundRow = Omit<FoundApiKey, 'allowedRanges'> & {
  ranges: string[]
  expiresInMs: number | null
}

/**
 * Finds the API key that a request carries, and counts the request.
 * @param address - Where the request came from.
 * @throws AppError `unauthenticated` unless the key is in force, `forbidden` outside of its address ranges, `suspended` when its workspace is, `rate_limited` when it has sent too many requests.
 */
export async function findApiKey(ctx: Context, request: Request, text: string, address: string): Promise<FoundApiKey> {
  const hash = hashTextOf(text)
  const found = ctx.apiKeys.get(hash) ?? (await findInForce(ctx, text, hash, address))
  const { organizationId, workspaceId, keyId } = found
  logCaller(request, { organizationId, workspaceId, keyId })
  // Before the request counts: others with a copy of the key do not use up its limit.
  if (!mayComeFrom(found, address)) {
    throw new AppError('forbidden', `This API key may not be used from ${address}.`)
  }
  if (!isAskedAgain(request)) spendKeyRequest(ctx, request, found.allowanceId, found.tier)
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

/** Checks a key in the database, past the cache. Throws `unauthenticated` when the key is no longer in force. */
export async function requireApiKeyInForce(ctx: Context, keyId: string): Promise<void> {
  const { rowCount } = await ctx.pool.query({
    name: 'is_api_key_in_force',
    text: `SELECT FROM api_keys k WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
             AND NOT EXISTS (SELECT FROM suspended_workspaces s WHERE s.id = k.workspace_id)`,
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
           WHERE k.hash = $1 AND k.revoked_at IS NULL AND w.deleted_at IS NULL
             AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`,
    values: [Buffer.from(hash, 'base64')],
  })
  if (!rows[0]) return undefined
  const { expiresInMs, ranges, ...row } = rows[0]
  const found = { ...row, allowedRanges: ranges.flatMap(parseCidrs) }
  // The cache takes a time of 0 for no limit.
  ctx.apiKeys.set(hash, found, { ttl: Math.max(1, Math.min(cachedMs, expiresInMs ?? cachedMs)) })
  return found
}

function mayComeFrom({ allowedRanges }: FoundApiKey, address: string): boolean {
  return allowedRanges.length === 0 || isWithin(address, allowedRanges)
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

export type ApiKeyText = { key: string; prefix: string; hash: Uint8Array<ArrayBuffer> }

/** Makes an API key: `bf_`, 190 random bits in base62, and a checksum by which scanners recognize a leaked key. */
export function createApiKeyText(): ApiKeyText {
  const secret = Array.from({ length: secretLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const key = `bf_${secret}${checksum(secret)}`
  return { key, prefix: key.slice(0, 8), hash: hashApiKey(key) }
}

/** Returns whether a text has the form of a key, so a typo is rejected without a query. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(3, -checksumLength)) === text.slice(-checksumLength)
}

/** Returns the hash that a key is stored and found by. */
export function hashApiKey(key: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(hashTextOf(key), 'base64'))
}

/** Returns the hash of a key in base64. */
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
