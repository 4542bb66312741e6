import { once } from 'node:events'
import { scopeTo } from '@belfry/db/postgres/scope-to'
import { ensureSigningSecret } from '@belfry/db/secrets/signing-secrets'
import { fromId } from '@belfry/domain/id'
import express from 'express'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint } from '../src/endpoint.ts'
import { type Caller, useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // reads whole tables
let other: Caller

const idOf = ({ workspaceId }: Caller) => fromId('ws', workspaceId) ?? ''
const tenantOf = (caller: Caller) => ({
  organizationId: fromId('org', caller.organizationId) ?? '',
  workspaceId: idOf(caller),
})

// Each has rows of both tenants. None of the statements below names a tenant.
const tables = [
  'secrets',
  'signing_secrets',
  'data_keys',
  'integrations',
  'cron_jobs',
  'queues',
  'run_statistics',
  'failure_states',
  'host_statistics',
  'federated_credentials',
  'log_parts',
]

beforeAll(async () => {
  other = await api.signUp()
  for (const caller of [api.caller, other]) {
    const call = (method: string, path: string, body: unknown) =>
      api.send(method, path, body, { 'X-Api-Key': caller.apiKey })
    const job = { name: 'j', url: 'https://example.com/', method: 'POST', cron: '0 0 1 1 *', queue: 'one' }
    const secret = `/api/v1/workspaces/${caller.workspaceId}/secrets/A_SECRET`
    const session = { Authorization: `Bearer ${caller.token}` }
    expect((await api.send('PUT', secret, { value: 'a long value' }, session)).status).toBeLessThan(300)
    await ensureSigningSecret(api.ctx.pool, api.ctx.config.masterKeys, idOf(caller))
    await call('POST', '/api/v1/scheduler/cronjobs', job)
    await call('POST', `/api/v1/workspaces/${caller.workspaceId}/integrations`, {
      ...{ name: 'i', channel: 'webhook', url: 'https://example.com/', events: ['task.dead'] },
    })
    await api.send(
      'POST',
      `/api/v1/workspaces/${caller.workspaceId}/federated-credentials`,
      { name: 'f', issuer: 'https://example.com', conditions: { repository: 'acme/app' }, scopes: ['read'] },
      session,
    )
    await api.db.query(
      `INSERT INTO run_statistics (workspace_id, period, starts_at, lag_bucket, total, failed) VALUES ($1, 1, now(), 0, 1, 0)`,
      [idOf(caller)],
    )
    await api.db.query(
      `INSERT INTO failure_states (workspace_id, host, error_code, response_status, state) VALUES ($1, 'a', 'timeout', 0, 'ignored')`,
      [idOf(caller)],
    )
    await api.db.query(
      `INSERT INTO host_statistics (workspace_id, period, starts_at, host, total, failed, duration_ms) VALUES ($1, 1, now(), 'a', 1, 0, 1)`,
      [idOf(caller)],
    )
    await api.db.query(
      `INSERT INTO log_parts (id, workspace_id, day, part, object_key, first_run_id, last_run_id, first_task_id, last_task_id, succeeded, failed, object_bytes, checksum)
       VALUES (gen_random_uuid(), $1, '2026-11-01', 1, 'key', $1, $1, $1, $1, 1, 0, 1, '')`,
      [idOf(caller)],
    )
    await api.db.query(
      `INSERT INTO queues (id, workspace_id, name) VALUES (gen_random_uuid(), $1, 'two') ON CONFLICT DO NOTHING`,
      [idOf(caller)],
    )
  }
})

it.each(tables)('hides the %s of another workspace from a statement without a condition', async table => {
  const text = `SELECT DISTINCT workspace_id AS id FROM ${table} ORDER BY 1`
  const both = (await api.db.query(text)).rows.map(({ id }) => id)
  expect(both.sort()).toEqual([idOf(api.caller), idOf(other)].sort())
  for (const caller of [api.caller, other]) {
    expect((await scopeTo(api.ctx.pool, tenantOf(caller)).query(text)).rows).toEqual([{ id: idOf(caller) }])
  }
})

it('hides the audit log of another organization', async () => {
  const text = 'SELECT DISTINCT organization_id AS id FROM audit_log'
  expect((await api.db.query(text)).rows).toHaveLength(2)
  const { organizationId, workspaceId } = tenantOf(other)
  for (const tenant of [{ organizationId }, { organizationId, workspaceId }]) {
    expect((await scopeTo(api.ctx.pool, tenant).query(text)).rows).toEqual([{ id: organizationId }])
  }
})

it('changes and adds no row of another workspace', async () => {
  const scoped = scopeTo(api.ctx.pool, tenantOf(api.caller))
  expect((await scoped.query(`UPDATE cron_jobs SET name = 'mine'`)).rowCount).toBe(1)
  const copy = `INSERT INTO queues (id, workspace_id, name) VALUES (gen_random_uuid(), $1, 'three')`
  await expect(scoped.query(copy, [idOf(other)])).rejects.toThrow(/row-level security/)
})

it('gives the connection back without the tenant, also after an error and from a transaction', async () => {
  const scoped = scopeTo(api.ctx.pool, tenantOf(api.caller))
  await expect(scoped.query('SELECT 1 / 0')).rejects.toThrow('division by zero')
  const client = await scoped.connect()
  await client.query('BEGIN')
  await client.query('ROLLBACK')
  client.release()
  const count = async () => (await api.ctx.pool.query('SELECT FROM secrets')).rowCount
  expect(await Promise.all(Array.from({ length: 20 }, count))).toEqual(Array.from({ length: 20 }, () => 2))
})

it('holds for the handler of an endpoint that forgets the tenant, and leaves writes alone', async () => {
  const forgetful = endpoint(
    { right: 'secret.read', summary: 'List all secrets', path: '/:ws', response: { status: 200, body: z.unknown() } },
    async ({ pool }) => (await pool.query('SELECT workspace_id AS id FROM secrets')).rows,
  )
  const app = express()
  app.all('/:ws', (request, response) => forgetful.serve(api.ctx, request, response))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const idsBy = async (method: string, { workspaceId, token }: Caller) => {
    const headers = { Authorization: `Bearer ${token}` }
    const response = await fetch(`http://127.0.0.1:${port}/${workspaceId}`, { method, headers })
    return ((await response.json()) as { id: string }[]).map(({ id }) => id).sort()
  }
  expect(await idsBy('GET', api.caller)).toEqual([idOf(api.caller)])
  expect(await idsBy('GET', other)).toEqual([idOf(other)])
  expect(await idsBy('POST', other)).toEqual([idOf(api.caller), idOf(other)].sort())
  server.close()
})
