import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type OpenConnection, putConnection, readConnections } from '@belfry/db/connections/connections'
import type { Pool } from '@belfry/db/postgres/pool'
import { newUuid } from '@belfry/domain/id'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it } from 'vitest'
import { createAccessTokens } from '../../src/connections/access-tokens.ts'
import { type IssuedToken, TokenRequestError, UnsentTokenRequestError } from '../../src/connections/request-token.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'
import { useDatabase } from './use-database.ts'

const masterKeys = parseMasterKeys(`k1:${randomBytes(32).toString('base64')}`)
let pool: Pool
useDatabase(opened => {
  pool = opened
})

async function store(changes: Partial<OpenConnection> = {}): Promise<OpenConnection> {
  const [organizationId, workspaceId] = [newUuid(), newUuid()]
  await pool.query(
    `INSERT INTO organizations (id, name, slug, tier, updated_at) VALUES ($1, 'Acme', $2, 'free', now())`,
    [organizationId, organizationId],
  )
  await pool.query(`INSERT INTO workspaces (id, organization_id, name, updated_at) VALUES ($1, $2, 'Main', now())`, [
    ...[workspaceId, organizationId],
  ])
  const connection = anOAuthConnection({ workspaceId, ...changes })
  return put(connection)
}

async function put(connection: OpenConnection): Promise<OpenConnection> {
  const { workspaceId, secrets } = connection
  await putConnection(
    pool,
    masterKeys,
    workspaceId,
    connection,
    () => secrets,
    100,
    async () => {},
  )
  return open(connection)
}

async function open({ workspaceId, name }: OpenConnection): Promise<OpenConnection> {
  const found = (await readConnections(pool, masterKeys, [workspaceId])).get(workspaceId)?.get(name)
  if (found === undefined || found instanceof Error) throw found ?? new Error('There is no such connection.')
  return found
}

type Issuer = {
  requests: number
  answers: Array<() => Promise<IssuedToken>>
  tokens: Array<ReturnType<typeof createAccessTokens>>
}

/** An issuer of numbered tokens, for two dispatchers. `answers` replace its next answers. */
function anIssuer(lifetimeMs = 3_600_000): Issuer {
  const issuer: Issuer = { requests: 0, answers: [], tokens: [] }
  const request = async () => {
    issuer.requests += 1
    const answer = issuer.answers.shift()
    return answer ? answer() : { value: `token-${issuer.requests}`, lifetimeMs }
  }
  issuer.tokens.push(...[0, 1].map(() => createAccessTokens(pool, masterKeys, request)))
  return issuer
}
const refuse = () => Promise.reject(new TokenRequestError('The token endpoint answered 400.'))
const values = async (gets: Array<Promise<{ value: string }>>) => [
  ...new Set((await Promise.all(gets)).map(({ value }) => value)),
]

it('calls of two dispatchers share one request, and the stored token is sealed', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  const gets = issuer.tokens.flatMap(each => Array.from({ length: 20 }, () => each.get(connection)))
  expect(await values(gets)).toEqual(['token-1'])
  expect(issuer.requests).toBe(1)
  const { rows } = await pool.query('SELECT sealed_value FROM connection_tokens WHERE connection_id = $1', [
    connection.id,
  ])
  expect(rows[0].sealed_value.toString('latin1')).not.toContain('token-1')
})

it('a token of 30 days stays in memory', async () => {
  const [connection, issuer] = [await store(), anIssuer(30 * 24 * 3_600_000)]
  const [tokens] = issuer.tokens
  await tokens?.get(connection)
  await pool.query('DELETE FROM connection_tokens WHERE connection_id = $1', [connection.id])
  await sleep(20) // longer than a timer whose time is too long for Node
  expect((await tokens?.get(connection))?.value).toBe('token-1')
  expect(issuer.requests).toBe(1)
})

it('no call waits for the next token while the current one is valid, also when its request fails', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  const [one, two] = issuer.tokens
  await one?.get(connection)
  const soon = `UPDATE connection_tokens SET refresh_at = now() + interval '200 ms' WHERE connection_id = $1`
  await pool.query(soon, [connection.id])
  issuer.answers.push(refuse)
  const next = async () => [(await two?.get(connection))?.value, issuer.requests]
  await expect.poll(next, { interval: 20 }).toEqual(['token-1', 2])
  expect((await two?.get(connection))?.value).toBe('token-1')
})

it('a call needs another token once the current one has expired', async () => {
  const [connection, issuer] = [await store(), anIssuer(100)]
  const [tokens] = issuer.tokens
  issuer.answers.push(async () => ({ value: 'token-1', lifetimeMs: 100 }), refuse)
  expect((await tokens?.get(connection))?.value).toBe('token-1')
  const next = () => tokens?.get(connection).catch(() => null)
  await expect
    .poll(next, { interval: 50, timeout: 10_000 })
    .toMatchObject({ value: expect.stringMatching(/token-[3-9]/) })
})

it('calls after a failure share it for two seconds', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  issuer.answers.push(refuse)
  const [tokens] = issuer.tokens
  for (let i = 0; i < 5; i++) await expect(tokens?.get(connection)).rejects.toThrow('answered 400')
  expect(issuer.requests).toBe(1)
  await expect
    .poll(() => tokens?.get(connection).catch(() => null), { timeout: 10_000 })
    .toMatchObject({ value: 'token-2' })
})

it('a refused token is replaced once, and not again for 30 seconds', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  const [one, two] = issuer.tokens
  const first = await one?.get(connection)
  await two?.get(connection)
  const second = [one?.get(connection, first?.id), two?.get(connection, first?.id)]
  expect(await values(second.map(each => each ?? Promise.reject()))).toEqual(['token-2'])
  const { id } = (await one?.get(connection)) ?? {}
  await expect(one?.get(connection, id)).rejects.toThrow('has issued no other token')
  await pool.query(`UPDATE connection_tokens SET refused_at = refused_at - interval '30 s' WHERE connection_id = $1`, [
    connection.id,
  ])
  expect((await two?.get(connection, id))?.value).toBe('token-3')
})

it('a change of the connection replaces its token, also while one is requested', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  const [tokens] = issuer.tokens
  let answer: (token: IssuedToken) => void = () => {}
  const asked = new Promise<void>(resolve =>
    issuer.answers.push(() => {
      resolve()
      return new Promise(settle => {
        answer = settle
      })
    }),
  )
  const before = tokens?.get(connection)
  await asked
  const changed = await put(connection)
  answer({ value: 'of-the-old-version', lifetimeMs: 3_600_000 })
  expect((await before)?.value).toBe('of-the-old-version')
  expect([changed.version, (await tokens?.get(changed))?.value]).toEqual([2, 'token-2'])
})

it('an earlier version of a connection does not get the token of the next one, and does not wait for it', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  const [one, two] = issuer.tokens
  const sent = await two?.get(connection)
  const changed = await put({ ...connection, hosts: ['other.example.com'] })
  expect((await one?.get(changed))?.value).toBe('token-2')
  await expect(two?.get(connection, sent?.id)).rejects.toThrow('has issued no other token')
  const unsent = anIssuer().tokens[0]?.get(connection)
  await expect(unsent).rejects.toThrow(UnsentTokenRequestError)
  expect(issuer.requests).toBe(2)
})

it('another dispatcher requests the token when the first one dies', async () => {
  const [connection, issuer] = [await store(), anIssuer()]
  const [one, two] = issuer.tokens
  issuer.answers.push(() => new Promise(() => {}))
  void one?.get(connection)
  await expect.poll(() => issuer.requests).toBe(1)
  const waiting = two?.get(connection)
  await pool.query(`UPDATE connection_tokens SET refreshing_until = now() - interval '1 ms' WHERE connection_id = $1`, [
    connection.id,
  ])
  expect((await waiting)?.value).toBe('token-2')
})

it('memory holds a limited number of tokens', async () => {
  const [first, second] = [await store(), await store()]
  let requests = 0
  const request = async () => ({ value: `token-${++requests}`, lifetimeMs: 3_600_000 })
  const tokens = createAccessTokens(pool, masterKeys, request, 1)
  for (const connection of [first, second]) await tokens.get(connection)
  await pool.query('DELETE FROM connection_tokens')
  expect((await tokens.get(second)).value).toBe('token-2')
  expect((await tokens.get(first)).value).toBe('token-3')
})
