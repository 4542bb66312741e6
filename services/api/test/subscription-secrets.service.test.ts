import { fromId, toId } from '@belfry/domain/id'
import { beforeEach, expect, it } from 'vitest'
import { type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const subscriptions = '/api/v1/scheduler/subscriptions'

let caller: Caller
beforeEach(async () => {
  caller = await api.signUp()
})

const call = (method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { 'X-Api-Key': caller.apiKey })
const subscribe = async (topic: string): Promise<string> =>
  (await call('POST', subscriptions, { topic, url: 'https://example.com/hook' })).body.id
const secretsOf = (id: string, secret = '') => `${subscriptions}/${id}/signing-secrets${secret}`
const list = async (id: string): Promise<Json[]> => (await call('GET', secretsOf(id))).body.data

it('creates, rotates, revokes and removes the secrets of a subscription, and records each without its value', async () => {
  const id = await subscribe('orders.secret')
  expect(await list(id)).toEqual([])
  const first = await call('POST', secretsOf(id))
  const { secret } = first.body
  expect([first.status, first.headers.get('location')]).toEqual([201, secretsOf(id, `/${first.body.id}`)])
  expect(Object.keys(first.body).sort()).toEqual(['created_at', 'expires_at', 'id', 'secret'])
  expect(secret).toMatch(/^whsec_/)
  const second = await call('POST', secretsOf(id))
  expect(await list(id)).toMatchObject([
    { secret: second.body.secret, expires_at: null },
    { secret, expires_at: expect.any(String) },
  ])
  expect((await call('DELETE', secretsOf(id, `/${second.body.id}`))).body.code).toBe('conflict')
  expect((await call('DELETE', secretsOf(id, `/${first.body.id}`))).status).toBe(204)
  expect((await call('DELETE', secretsOf(id, `/${first.body.id}`))).status).toBe(404)
  for (let i = 0; i < 2; i++) expect((await call('DELETE', secretsOf(id))).status).toBe(204)
  expect(await list(id)).toEqual([])
  const { rows } = await api.db.query(
    `SELECT action, details FROM audit_log WHERE action LIKE 'signing_secret.%' AND organization_id = $1 ORDER BY id`,
    [fromId('org', caller.organizationId)],
  )
  expect(rows.map(({ action, details }) => [action, JSON.parse(details)])).toEqual([
    ...Array(2).fill(['signing_secret.rotated', { subscription: id }]),
    ['signing_secret.revoked', { subscription: id }],
    ['signing_secret.revoked', { secrets: 1 }],
  ])
})

it('keeps at most five secrets that sign', async () => {
  const id = await subscribe('orders.many')
  for (let i = 0; i < 5; i++) expect((await call('POST', secretsOf(id))).status).toBe(201)
  expect((await call('POST', secretsOf(id))).body.code).toBe('conflict')
})

it('knows no subscription of another workspace', async () => {
  const other = await api.signUp()
  const as = { 'X-Api-Key': other.apiKey }
  const id = await subscribe('orders.other')
  const { body } = await call('POST', secretsOf(id))
  for (const [method, path] of [
    ['GET', secretsOf(id)],
    ['POST', secretsOf(id)],
    ['DELETE', secretsOf(id)],
    ['DELETE', secretsOf(id, `/${body.id}`)],
  ] as const) {
    expect([method, (await api.send(method, path, undefined, as)).status]).toEqual([method, 404])
  }
  expect(await list(id)).toHaveLength(1)
})

it('names the subscription in the tasks of later events only, and in their replays', async () => {
  const id = await subscribe('orders.signed')
  const publish = async (): Promise<string> =>
    (await call('POST', '/api/events', { topic: 'orders.signed', payload: {} })).body.tasks[0].id
  const signers = async () => {
    const { rows } = await api.db.query<{ signer: string | null }>(
      `SELECT r.subscription_id AS signer FROM task_requests r JOIN tasks t ON t.id = r.task_id
       WHERE t.workspace_id = $1 ORDER BY t.id`,
      [fromId('ws', caller.workspaceId)],
    )
    return rows.map(({ signer }) => signer && toId('sub', signer))
  }
  await publish()
  await call('POST', secretsOf(id))
  const task = await publish()
  await api.db.query(`UPDATE tasks SET state = 'dead', finished_at = now() WHERE id = $1`, [fromId('task', task)])
  expect((await call('POST', `/api/v1/scheduler/tasks/${task}/replay`)).status).toBe(201)
  await call('DELETE', secretsOf(id))
  await publish()
  expect(await signers()).toEqual([null, id, id, null])
})

it('ends the secrets of a deleted subscription after 30 days', async () => {
  const id = await subscribe('orders.deleted')
  await call('POST', secretsOf(id))
  await call('DELETE', `${subscriptions}/${id}`)
  const { rows } = await api.db.query<{ days: number }>(
    `SELECT extract(epoch FROM expires_at - now())::float8 / 86400 AS days FROM subscription_secrets
     WHERE subscription_id = $1`,
    [fromId('sub', id)],
  )
  expect(rows).toEqual([{ days: expect.closeTo(30, 1) }])
})
