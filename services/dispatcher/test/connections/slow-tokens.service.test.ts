import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { putConnection } from '@belfry/db/connections/connections'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { nameQueue } from '@belfry/db/queues/queues'
import { fromId } from '@belfry/domain/id'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it, onTestFinished } from 'vitest'
import { listening } from '../egress/setup-sender.ts'
import { aWorkspace, type IntakeTest, setupIntake } from '../intake/setup-intake.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'

const encryptionKeys = `k1:${randomBytes(32).toString('base64')}`

type Setup = { test: IntakeTest; target: Receiver; workspace: string; requests: ServerResponse[] }

/** A dispatcher, and a workspace with a connection whose token requests wait in `requests`. */
async function setup(): Promise<Setup> {
  const [test, target, workspace] = [await setupIntake('postgres', 0), await startReceiver(), aWorkspace()]
  onTestFinished(async () => {
    await test.close()
    await target.close()
  })
  const requests: ServerResponse[] = []
  const endpoint = createServer((_, response) => requests.push(response))
  const { port } = await listening(endpoint)
  onTestFinished(() => void endpoint.close().closeAllConnections())
  await test.store({ count: 0, workspace, url: target.url('/'), dueInMs: 0 })
  const hosts = [new URL(target.url('/')).host]
  const settings = { tokenUrl: `http://127.0.0.1:${port}/`, clientId: 'belfry', clientAuthentication: 'basic' as const }
  const connection = anOAuthConnection({ workspaceId: workspace, name: 'slow', hosts, settings })
  const keys = parseMasterKeys(encryptionKeys)
  await putConnection(
    test.pool,
    keys,
    workspace,
    connection,
    () => connection.secrets,
    100,
    async () => {},
  )
  return { test, target, workspace, requests }
}

async function storeTasks({ test, target, workspace }: Setup, count: number): Promise<string[]> {
  const stored = await test.store({ count, workspace, url: target.url('/'), dueInMs: 300 })
  const ids = stored.map(({ id }) => fromId('task', id) ?? '')
  await test.pool.query(`UPDATE task_requests SET connection = 'slow' WHERE task_id = ANY ($1)`, [ids])
  return ids
}

function issue(response: ServerResponse | undefined, lifetimeS = 3_600): void {
  response?.setHeader('Content-Type', 'application/json')
  response?.end(JSON.stringify({ access_token: 'a-token', token_type: 'Bearer', expires_in: lifetimeS }))
}

const start = ({ test }: Setup, env = {}) => test.start({ ENCRYPTION_KEYS: encryptionKeys, ...env })

async function stateOf({ test }: Setup, id: string | undefined) {
  const { rows } = await test.pool.query('SELECT state, state_reason AS reason, attempts FROM tasks WHERE id = $1', [
    id,
  ])
  return rows[0]
}

/** Waits until no task has a claim. */
async function isDeferred({ test }: Setup): Promise<void> {
  const processing = `SELECT count(*)::int AS n FROM tasks WHERE state = 'processing'`
  await expect.poll(async () => (await test.pool.query(processing)).rows).toEqual([{ n: 0 }])
}

it('lets no calls start together that have waited for a token, above the rate of their queue', async () => {
  const setUp = await setup()
  const { test, target, workspace, requests } = setUp
  const limits = { rateLimit: { count: 2, periodMs: 1_000 } }
  const queue = await inTransaction(test.pool, tx => nameQueue(tx, workspace, 'partner', limits))
  const ids = await storeTasks(setUp, 12)
  await test.pool.query('UPDATE tasks SET queue_id = $1 WHERE id = ANY ($2)', [queue, ids])
  await start(setUp)
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(1)
  await sleep(3_000)
  await isDeferred(setUp)
  expect(target.requests).toEqual([])
  const issuedAt = Date.now()
  issue(requests[0])
  await target.waitFor(3, 10_000)
  const text = 'SELECT started_at AS at FROM runs WHERE workspace_id = $1 ORDER BY started_at'
  await expect.poll(async () => (await test.pool.query(text, [workspace])).rows.length, { timeout: 20_000 }).toBe(12)
  const starts = (await test.pool.query<{ at: Date }>(text, [workspace])).rows.map(({ at }) => at.getTime())
  // A busy machine delays a call after it got its permit, so two calls of each second may start closer to the next two.
  const early = starts.filter((at, i) => at < issuedAt + Math.floor(i / 2) * 1_000 - 100)
  expect(early).toEqual([])
  expect(requests).toHaveLength(1)
}, 60_000)

it('calls a task that has waited for a token with the only start of a long period', async () => {
  const setUp = await setup()
  const { test, target, workspace, requests } = setUp
  const limits = { rateLimit: { count: 1, periodMs: 600_000 } }
  const queue = await inTransaction(test.pool, tx => nameQueue(tx, workspace, 'partner', limits))
  const ids = await storeTasks(setUp, 1)
  await test.pool.query('UPDATE tasks SET queue_id = $1 WHERE id = ANY ($2)', [queue, ids])
  await start(setUp)
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(1)
  await isDeferred(setUp)
  issue(requests[0])
  await target.waitFor(1, 10_000)
}, 30_000)

it('waits again without a claim when the token that it has waited for has expired before its start', async () => {
  const setUp = await setup()
  const { target, requests } = setUp
  const [id] = await storeTasks(setUp, 1)
  await start(setUp)
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(1)
  await isDeferred(setUp)
  issue(requests[0], 0.001)
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(2)
  await expect.poll(() => stateOf(setUp, id)).toMatchObject({ state: 'pending', attempts: 0 })
  expect(target.requests).toEqual([])
  issue(requests[1])
  await target.waitFor(1, 10_000)
}, 30_000)

// Its claim was answered `busy` first, so the dispatcher has tried later than at its due time.
it('claims a task only once while it waits for a token, also when it was locked before', async () => {
  const setUp = await setup()
  const { test, target, requests } = setUp
  const [id] = await storeTasks(setUp, 1)
  await inTransaction(test.pool, async tx => {
    await tx.query('SELECT FROM tasks WHERE id = $1 FOR UPDATE', [id])
    await start(setUp)
    await sleep(1_500)
  })
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(1)
  await isDeferred(setUp)
  const text = 'SELECT updated_at AS at FROM tasks WHERE id = $1'
  const [undone] = (await test.pool.query(text, [id])).rows
  await sleep(5_000) // with searches for late work
  expect((await test.pool.query(text, [id])).rows).toEqual([undone])
  issue(requests[0])
  await target.waitFor(1, 10_000)
}, 30_000)

it('does not call a task whose deadline passes while its token is requested', async () => {
  const setUp = await setup()
  const { test, target, requests } = setUp
  const [id] = await storeTasks(setUp, 1)
  await start(setUp)
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(1)
  await isDeferred(setUp)
  await test.pool.query('UPDATE tasks SET expires_at = clock_timestamp() WHERE id = $1', [id])
  issue(requests[0])
  await expect
    .poll(() => stateOf(setUp, id), { timeout: 5_000 })
    .toEqual({ state: 'dead', reason: 'expired', attempts: 0 })
  expect(target.requests).toEqual([])
}, 30_000)

it('fails the attempts that have waited for a token when it is refused', async () => {
  const setUp = await setup()
  const { test, target, workspace, requests } = setUp
  const ids = await storeTasks(setUp, 2)
  await start(setUp)
  await expect.poll(() => requests.length, { timeout: 5_000 }).toBe(1)
  await sleep(500)
  requests[0]?.writeHead(401).end('{}')
  for (const id of ids)
    await expect.poll(() => stateOf(setUp, id), { timeout: 5_000 }).toMatchObject({ state: 'dead', attempts: 1 })
  const text = 'SELECT DISTINCT error_code AS code FROM runs WHERE workspace_id = $1'
  expect((await test.pool.query(text, [workspace])).rows).toEqual([{ code: 'connection_failed' }])
  expect(target.requests).toEqual([])
}, 30_000)

it('counts no attempt while the egress proxy cannot be used for the token', async () => {
  const setUp = await setup()
  const { test, target, workspace, requests } = setUp
  const closed = createServer()
  const { port } = await listening(closed)
  closed.close()
  const [id] = await storeTasks(setUp, 1)
  await start(setUp, { EGRESS_PROXY_URL: `http://127.0.0.1:${port}`, EGRESS_NO_PROXY: new URL(target.url('/')).host })
  const text = `SELECT state, attempts, due_at > execute_at + interval '2 seconds' AS "isPutBack" FROM tasks WHERE id = $1`
  await expect
    .poll(async () => (await test.pool.query(text, [id])).rows, { timeout: 15_000 })
    .toEqual([{ state: 'pending', attempts: 0, isPutBack: true }])
  expect((await test.pool.query('SELECT FROM runs WHERE workspace_id = $1', [workspace])).rowCount).toBe(0)
  expect([requests, target.requests]).toEqual([[], []])
}, 30_000)
