import { randomUUID, sign } from 'node:crypto'
import type { OpenConnection } from '@belfry/db/connections/connections'
import { readIdentityKey, rotateIdentityKeys } from '@belfry/db/connections/identity-keys'
import type { Pool } from '@belfry/db/postgres/pool'
import { toId } from '@belfry/domain/id'
import { steadyTime } from '@belfry/runtime'
import type { MasterKeys } from '@belfry/vault'
import { LRUCache } from 'lru-cache'
import { TokenRequestError } from './request-token.ts'

/**
 * Signs the identity tokens of connections, by which a target knows which workspace calls.
 * @param issuer - The public origin of the installation, or null.
 * @param max - How many tokens stay in memory. Default: 1,000.
 */
export function createIdentityTokens(pool: Pool, masterKeys: MasterKeys, issuer: string | null, max = 1_000) {
  const tokens = new LRUCache<string, Promise<string>>({ max, perf: { now: steadyTime } })
  return {
    /**
     * Returns a token that is valid for at least half of the lifetime of the connection's tokens.
     * @throws TokenRequestError when the installation has no public URL.
     */
    async get(connection: OpenConnection): Promise<string> {
      if (issuer === null) throw new TokenRequestError('An identity token needs an issuer, and PUBLIC_URL is not set.')
      const { id, version, settings } = connection
      const key = `${id} ${version}`
      const known = tokens.get(key)
      if (known) return known
      const signing = signIdentity(pool, masterKeys, connection, issuer)
      tokens.set(key, signing, { ttl: lifetimeOf(settings) * 500 })
      signing.catch(() => tokens.delete(key))
      return signing
    },
  }
}

const lifetimeOf = ({ lifetimeS = 300 }: OpenConnection['settings']) => lifetimeS

async function signIdentity(
  pool: Pool,
  masterKeys: MasterKeys,
  { workspaceId, name, settings }: OpenConnection,
  issuer: string,
): Promise<string> {
  await rotateIdentityKeys(pool, masterKeys)
  const key = await readIdentityKey(pool, masterKeys)
  if (key === null) throw new Error('There is no key for identity tokens.')
  const now = Math.floor(Date.now() / 1000)
  const workspace = toId('ws', workspaceId)
  const claims = {
    iss: issuer,
    sub: `workspace:${workspace}:connection:${name}`,
    aud: settings.audience,
    iat: now,
    // The clock of a verifier may be behind.
    nbf: now - 30,
    exp: now + lifetimeOf(settings),
    jti: randomUUID(),
    workspace_id: workspace,
    connection: name,
  }
  const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: key.id })}.${encode(claims)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key.privateKey).toString('base64url')}`
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
