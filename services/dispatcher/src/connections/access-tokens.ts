import { setTimeout as sleep } from 'node:timers/promises'
import {
  readConnectionToken,
  releaseTokenRefresh,
  type StoredToken,
  storeConnectionToken,
  takeTokenRefresh,
} from '@belfry/db/connections/connection-tokens'
import type { OpenConnection } from '@belfry/db/connections/connections'
import type { Pool } from '@belfry/db/postgres/pool'
import { newUuid } from '@belfry/domain/id'
import { steadyTime } from '@belfry/runtime'
import type { MasterKeys } from '@belfry/vault'
import { LRUCache } from 'lru-cache'
import { type IssuedToken, TokenRequestError, tokenRequestTimeoutMs, UnsentTokenRequestError } from './request-token.ts'

export type AccessToken = { id: string; value: string }

type Kept = AccessToken & { version: number; refreshAt: number; expiresAt: number }

const pollMs = 100
// A dispatcher that dies while it requests a token delays the others for so long.
const leaseMs = tokenRequestTimeoutMs + 5_000
const patienceMs = leaseMs + tokenRequestTimeoutMs
// Calls that follow a failure at once share it, so they do not flood the token endpoint.
const failureKeptMs = 2_000
const maxMarginMs = 60_000

/**
 * Opens the access tokens of connections. Dispatchers share each token through PostgreSQL, where it is sealed. One of them requests
 * the next one, and the calls of all others wait for it.
 * @param request - Requests a token from its issuer. Throws TokenRequestError.
 * @param max - How many tokens stay in memory. Default: 1,000.
 */
export function createAccessTokens(
  pool: Pool,
  masterKeys: MasterKeys,
  request: (connection: OpenConnection) => Promise<IssuedToken>,
  max = 1_000,
) {
  const kept = new LRUCache<string, Kept>({ max })
  const pending = new Map<string, Promise<Kept>>()

  async function read(connection: OpenConnection, refused?: string): Promise<Kept | null> {
    const stored = await readConnectionToken(pool, masterKeys, connection)
    return stored && stored.tokenId !== refused ? keep(connection, stored) : null
  }

  function keep({ id, version }: OpenConnection, { tokenId, value, refreshInMs, expiresInMs }: StoredToken): Kept {
    const now = steadyTime()
    const token = { id: tokenId, value, version, refreshAt: now + refreshInMs, expiresAt: now + expiresInMs }
    kept.set(id, token)
    return token
  }

  async function renew(connection: OpenConnection, refused?: string): Promise<Kept> {
    let wasUnneeded = false
    for (const giveUpAt = performance.now() + patienceMs; ; await sleep(pollMs)) {
      const token = await read(connection, refused)
      if (token && token.refreshAt > steadyTime()) return token
      const refresh = await takeTokenRefresh(pool, connection, refused ?? null, leaseMs)
      if (refresh.kind === 'taken') return replace(connection, refresh.id, token)
      // Another dispatcher requests the next token, and this one is still valid.
      if (token) return token
      // The reservation of another dispatcher may have ended between two statements, so it must be unneeded twice.
      const isUnneeded = refresh.kind === 'unneeded' && wasUnneeded
      wasUnneeded = refresh.kind === 'unneeded'
      if (!isUnneeded && performance.now() <= giveUpAt) continue
      // Another dispatcher may have stored the next token between both statements.
      const last = await read(connection, refused)
      if (last) return last
      if (isUnneeded && refused === undefined) {
        throw new UnsentTokenRequestError('The connection has been changed or deleted.')
      }
      throw new TokenRequestError('The token endpoint has issued no other token.')
    }
  }

  async function replace(connection: OpenConnection, refreshId: string, current: Kept | null): Promise<Kept> {
    try {
      const { value, lifetimeMs } = await request(connection)
      const marginMs = Math.min(maxMarginMs, lifetimeMs / 5)
      const token = { tokenId: newUuid(), value, refreshInMs: lifetimeMs - marginMs, expiresInMs: lifetimeMs }
      await storeConnectionToken(pool, masterKeys, connection, refreshId, token)
      return keep(connection, token)
    } catch (error) {
      await releaseTokenRefresh(pool, connection, refreshId)
      if (!current || !(error instanceof TokenRequestError)) throw error
      current.refreshAt = steadyTime() + failureKeptMs
      return current
    }
  }

  /** All calls that need the next token at the same time share one request for it. */
  function renewOnce(connection: OpenConnection, refused?: string): Promise<Kept> {
    const key = `${connection.id} ${connection.version} ${refused ?? ''}`
    const running = pending.get(key)
    if (running !== undefined) return running
    const renewing = renew(connection, refused)
    pending.set(key, renewing)
    const forget = () => pending.delete(key)
    renewing.then(forget, () => setTimeout(forget, failureKeptMs).unref())
    return renewing
  }

  return {
    /**
     * Returns the current token of a connection. While it is valid, calls do not wait for the next one.
     * @param refused - The token to which the target answered 401. Another one is returned, unless the last one was
     * replaced for this reason less than 30 seconds ago. Optional.
     * @throws TokenRequestError, as UnsentTokenRequestError for an earlier version of the connection than the stored one.
     */
    async get(connection: OpenConnection, refused?: string): Promise<AccessToken> {
      const known = kept.get(connection.id)
      const now = steadyTime()
      const isValid = known?.version === connection.version && known.id !== refused && known.expiresAt > now
      if (!isValid) return renewOnce(connection, refused)
      // An error of the next request appears when this token has expired.
      if (known.refreshAt <= now) renewOnce(connection).catch(() => {})
      return known
    },
  }
}
