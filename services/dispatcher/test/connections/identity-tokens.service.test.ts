import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenConnection } from '@belfry/db/connections/connections'
import { listIdentityKeys } from '@belfry/db/connections/identity-keys'
import type { Pool } from '@belfry/db/postgres/pool'
import { toId } from '@belfry/domain/id'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createIdentityTokens } from '../../src/connections/identity-tokens.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'
import { useDatabase } from './use-database.ts'

const masterKeys = parseMasterKeys(`k1:${randomBytes(32).toString('base64')}`)
let pool: Pool
useDatabase(opened => {
  pool = opened
})

const aConnection = (): OpenConnection => ({
  ...anOAuthConnection({ secrets: {} }),
  ...{ kind: 'identity_token', settings: { audience: 'https://api.example.com', lifetimeS: 60 } },
})

it('a token names its workspace and is valid for its lifetime; half of it is used', async () => {
  const tokens = createIdentityTokens(pool, masterKeys, 'https://belfry.example.com')
  const connection = aConnection()
  const token = await tokens.get(connection)
  const [header = '', claims = '', signature = ''] = token.split('.')
  const [key] = await listIdentityKeys(pool)
  const publicKey = createPublicKey({ key: key ?? {}, format: 'jwk' })
  expect(verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(
    true,
  )
  const read = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const workspace = toId('ws', connection.workspaceId)
  expect(read).toMatchObject({
    iss: 'https://belfry.example.com',
    sub: `workspace:${workspace}:connection:billing-api`,
    aud: 'https://api.example.com',
    workspace_id: workspace,
    connection: 'billing-api',
  })
  expect([read.exp - read.iat, read.iat - read.nbf]).toEqual([60, 30])
  expect(await tokens.get(connection)).toBe(token)
  expect(await tokens.get({ ...connection, version: 2 })).not.toBe(token)
  await sleep(2) // the cache reads the clock once in a millisecond
  const now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now + 30_001)
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await tokens.get(connection)).not.toBe(token)
})

it('memory holds a limited number of tokens', async () => {
  const tokens = createIdentityTokens(pool, masterKeys, 'https://belfry.example.com', 1)
  const [first, second] = [aConnection(), aConnection()]
  const before = [await tokens.get(first), await tokens.get(second)]
  expect([await tokens.get(second), await tokens.get(first)]).toEqual([
    before[1],
    expect.not.stringMatching(before[0] ?? ''),
  ])
})

it('needs a public URL', async () => {
  const tokens = createIdentityTokens(pool, masterKeys, null)
  await expect(tokens.get(aConnection())).rejects.toThrow('PUBLIC_URL is not set')
})
