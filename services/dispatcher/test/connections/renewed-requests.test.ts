import type { OpenConnection } from '@belfry/db/connections/connections'
import { expect, it } from 'vitest'
import { applyConnection } from '../../src/connections/apply-connection.ts'
import type { ConnectionsContext } from '../../src/connections/open-connections.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'

const outgoing = { url: 'https://api.example.com/', method: 'POST', headers: {}, body: null, timeoutMs: 30_000 }

/** Sends a call, changes the connection, and returns the request that repeats the call. */
async function renewedAfter(change: (connection: OpenConnection) => OpenConnection[]) {
  const connection = anOAuthConnection()
  let stored = [connection]
  const read = async () => new Map(stored.map(each => [each.name, each]))
  const ctx = {
    connections: { get: read, reload: read, peek: () => undefined },
    accessTokens: { get: async (_: unknown, refused?: string) => ({ id: refused ? '2' : '1', value: 'a-token' }) },
    credentialRedactors: { get: () => ({}) },
    tlsSenders: { of: () => null },
  } as unknown as ConnectionsContext
  const request = { outgoing, shownHeaders: {}, redactor: null, keepsResponse: true, sender: null, renew: null }
  const sent = await applyConnection(ctx, connection, { task: 'task_1', run: 'run_1' }, request, null)
  stored = change(connection)
  return sent.renew?.()
}

it('repeats a refused call only while the connection is the same', async () => {
  expect((await renewedAfter(same => [same]))?.outgoing).toMatchObject({ url: outgoing.url })
  const hosts = ['other.example.com']
  for (const change of [
    { version: 2, hosts },
    { id: anOAuthConnection().id, hosts },
  ]) {
    expect(await renewedAfter(before => [{ ...before, ...change }])).toBeNull()
  }
  expect(await renewedAfter(() => [])).toBeNull()
})
