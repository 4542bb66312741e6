import { randomBytes } from 'node:crypto'
import { readConnectionTest, requestConnectionTest } from '@belfry/db/connections/connection-tests'
import { putConnection, readConnections } from '@belfry/db/connections/connections'
import type { Pool } from '@belfry/db/postgres/pool'
import { newUuid } from '@belfry/domain/id'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it } from 'vitest'
import type { ConnectionsContext } from '../../src/connections/open-connections.ts'
import { createConnectionTestRunner } from '../../src/connections/run-connection-tests.ts'
import type { SendOutcome } from '../../src/egress/outcome.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'
import { useDatabase } from './use-database.ts'

const masterKeys = parseMasterKeys(`k1:${randomBytes(32).toString('base64')}`)
let pool: Pool
useDatabase(opened => {
  pool = opened
})

async function storeConnection() {
  const [organizationId, workspaceId] = [newUuid(), newUuid()]
  await pool.query(
    `INSERT INTO organizations (id, name, slug, tier, updated_at) VALUES ($1, 'Acme', $2, 'free', now())`,
    [organizationId, organizationId],
  )
  await pool.query(`INSERT INTO workspaces (id, organization_id, name, updated_at) VALUES ($1, $2, 'Main', now())`, [
    ...[workspaceId, organizationId],
  ])
  const connection = anOAuthConnection({ workspaceId })
  const { secrets } = connection
  await putConnection(
    pool,
    masterKeys,
    workspaceId,
    connection,
    () => secrets,
    100,
    async () => {},
  )
  const stored = (await readConnections(pool, masterKeys, [workspaceId])).get(workspaceId)?.get(connection.name)
  if (stored === undefined || stored instanceof Error) throw stored ?? new Error('There is no such connection.')
  return { workspaceId, id: stored.id }
}

it('a dispatcher runs two tests of an organization at a time, the next one when one has ended, and those of others meanwhile', async () => {
  const { workspaceId, id } = await storeConnection()
  const answers: Array<() => void> = []
  const token: SendOutcome = {
    kind: 'response',
    status: 200,
    headers: {},
    bodyBytes: 31,
    bodyTruncated: false,
    note: null,
    timings: null,
    body: Buffer.from(JSON.stringify({ access_token: 'a-token', expires_in: 60 })),
  }
  const reload = async (workspace: string) => (await readConnections(pool, masterKeys, [workspace])).get(workspace)
  const ctx = {
    ...{ pool, connections: { get: reload, reload }, tlsSenders: { of: () => null } },
    sender: { send: () => new Promise<SendOutcome>(resolve => answers.push(() => resolve(token))) },
  } as unknown as ConnectionsContext
  const woken: Array<Promise<void>> = []
  const runTests = createConnectionTestRunner(ctx, 'Belfry', () => woken.push(runTests()))
  const request = (of: { workspaceId: string; id: string }) => requestConnectionTest(pool, of.workspaceId, of.id, null)
  const tests = await Promise.all(Array.from({ length: 3 }, () => request({ workspaceId, id })))
  const progress = () => Promise.all(tests.map(test => readConnectionTest(pool, workspaceId, test)))
  const started = async () => (await progress()).filter(({ isTaken }) => isTaken).length
  const ended = async () => (await progress()).filter(({ outcome }) => outcome?.ok).length

  await runTests()
  await expect.poll(() => answers.length).toBe(2)
  await request(await storeConnection())
  await runTests()
  await expect.poll(() => answers.length).toBe(3)
  expect(await started()).toBe(2)

  answers[0]?.()
  await expect.poll(() => answers.length).toBe(4)
  expect([await started(), await ended()]).toEqual([3, 1])
  for (const answer of answers) answer()
  await expect.poll(ended).toBe(3)
  await expect.poll(() => woken.length).toBe(4)
  await Promise.all(woken)
})
