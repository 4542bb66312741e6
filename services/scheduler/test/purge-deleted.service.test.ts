import { randomBytes } from 'node:crypto'
import { createCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { insertTasks } from '@belfry/db/tasks/insert-tasks'
import { foldUsageChanges } from '@belfry/db/usage/fold-usage-changes'
import { readUsage } from '@belfry/db/usage/read-usage'
import { newUuid, toId } from '@belfry/domain/id'
import { openObjectStorage } from '@belfry/object-storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { purgeDeleted, windDownWorkspaces } from '../src/purge-deleted.ts'
import { openTestContext, storeWorkspace } from './setup.ts'

const never = new AbortController().signal

let ctx: Context
beforeEach(async () => {
  ctx = await openTestContext()
})
afterEach(() => ctx.close())

const request = { url: 'https://example.com/', method: 'POST', headers: '{}', payload: '"12345678"', maxRetries: 0 }
const delays = { backoff: 'fixed', baseDelayMs: 1_000, maxDelayMs: 1_000, timeoutMs: 1_000 } as const
const later = () => new Date(Date.now() + 3_600_000)

/** Stores a row of every kind that a workspace can have. */
async function fill(workspaceId: string): Promise<void> {
  const { pool } = ctx
  const origin = { source: 'task', topic: null, eventId: null, replayOf: null } as const
  const tasks = Array.from({ length: 1_500 }, () => {
    return { id: newUuid(), workspaceId, name: 'A task', executeAt: later(), ...origin, ...request, ...delays }
  })
  await insertTasks(pool, tasks)
  await pool.query(
    `WITH finished AS (
       UPDATE tasks SET state = 'success', attempts = 1, finished_at = now(), run_id = gen_random_uuid()
       WHERE id IN (SELECT id FROM tasks WHERE workspace_id = $1 ORDER BY id LIMIT 1200) RETURNING id, workspace_id
     )
     INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_body)
     SELECT uuid_v7(now()), workspace_id, id, 1, 'task', 'success', now(), now(), now(), '12345' FROM finished`,
    [workspaceId],
  )
  await pool.query(
    `INSERT INTO run_statistics (workspace_id, period, starts_at, lag_bucket, total, failed)
     SELECT $1, 1, now(), bucket, 1, 0 FROM generate_series(1, 1200) bucket`,
    [workspaceId],
  )
  await pool.query(
    `INSERT INTO host_statistics (workspace_id, period, starts_at, host, total, failed, duration_ms)
     SELECT $1, 1, now(), 'host ' || n, 1, 0, 1 FROM generate_series(1, 1200) n`,
    [workspaceId],
  )
  const rule = { startsAt: null, endsAt: null, overlap: 'allow', catchUp: 'latest' } as const
  const job = { id: newUuid(), workspaceId, name: 'A job', cron: '0 0 1 1 *', timezone: 'UTC', ...rule }
  await createCronJob(pool, { ...job, ...request, ...delays }, 0)
  const dataKey = `INSERT INTO data_keys (workspace_id, version, master_key_id, wrapped_key) VALUES ($1, 1, 'k1', 'wrapped')`
  await pool.query(dataKey, [workspaceId])
  const secret = `INSERT INTO secrets (id, workspace_id, name, sealed_value, key_version) VALUES ($2, $1, 'TOKEN', 'sealed', 1)`
  await pool.query(secret, [workspaceId, newUuid()])
  const key = `INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_by) VALUES ($2, $1, 'CI', 'bf_', $3, $2)`
  await pool.query(key, [workspaceId, newUuid(), randomBytes(32)])
  const trust = `INSERT INTO federated_credentials (id, workspace_id, name, issuer, audience, conditions, scopes, lifetime_ms, created_by)
                 VALUES ($2, $1, 'CI', 'https://example.com', 'a', '{}', '{read}', 60000, $2)`
  await pool.query(trust, [workspaceId, newUuid()])
  const kept = `INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, answer) VALUES ($1, 'k', '', 201, '{}')`
  await pool.query(kept, [workspaceId])
}

const tables = [
  ...[
    'tasks',
    'runs',
    'cron_jobs',
    'secrets',
    'data_keys',
    'api_keys',
    'federated_credentials',
    'idempotency_keys',
    'usage_changes',
  ],
  ...['run_changes', 'run_statistics', 'host_statistics'],
] as const

async function rowsOf(workspaceId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const text = `SELECT count(*)::int AS n FROM ${table} WHERE workspace_id = $1`
    counts[table] = (await ctx.pool.query(text, [workspaceId])).rows[0].n
  }
  return counts
}

const deleteWorkspace = (id: string) =>
  ctx.pool.query(`UPDATE workspaces SET deleted_at = now() - interval '2 minutes' WHERE id = $1`, [id])

async function organizationOf(workspaceId: string): Promise<string> {
  const text = 'SELECT organization_id AS id FROM workspaces WHERE id = $1'
  return (await ctx.pool.query(text, [workspaceId])).rows[0].id
}

async function untilPurged(): Promise<number> {
  let total = 0
  for (let purged = -1; purged !== 0; total += purged) {
    await windDownWorkspaces(ctx, never)
    purged = await purgeDeleted(ctx, never)
    while ((await foldUsageChanges(ctx.pool, 1_000)) > 0);
    if (purged === 0) purged = await purgeDeleted(ctx, never)
  }
  return total
}

describe('a deleted workspace', () => {
  it('loses everything, in batches, and its storage is free again; another workspace keeps all', async () => {
    const [gone, kept] = [await storeWorkspace(ctx), await storeWorkspace(ctx)]
    for (const id of [gone, kept]) await fill(id)
    const before = await rowsOf(kept)
    expect(before).toMatchObject({
      tasks: 1_500,
      runs: 1_200,
      run_changes: 1,
      run_statistics: 1_200,
      host_statistics: 1_200,
      secrets: 1,
      api_keys: 1,
      federated_credentials: 1,
      idempotency_keys: 1,
    })
    const organizationId = await organizationOf(gone)
    while ((await foldUsageChanges(ctx.pool, 1_000)) > 0);
    // Responses are counted where they are recorded, which nothing does here.
    await ctx.pool.query('UPDATE storage SET bytes = bytes + 1200 * 5')
    const answer = 2
    expect((await readUsage(ctx.pool, organizationId))?.storageBytes).toBe(1_500 * 10 + 1_200 * 5 + answer)
    await deleteWorkspace(gone)
    await untilPurged()
    expect(Object.values(await rowsOf(gone))).toEqual(tables.map(() => 0))
    const { rowCount } = await ctx.pool.query('SELECT FROM workspaces WHERE id = $1', [gone])
    expect(rowCount).toBe(0)
    const requests = await ctx.pool.query('SELECT count(*)::int AS n FROM task_requests')
    expect(requests.rows[0].n).toBe(1_500)
    expect((await readUsage(ctx.pool, organizationId))?.storageBytes).toBe(0)
    expect(await rowsOf(kept)).toEqual({ ...before, usage_changes: 0 })
  })

  it('is not purged while an attempt is in flight, and by only one of several schedulers', async () => {
    const id = await storeWorkspace(ctx)
    await fill(id)
    const text = `UPDATE tasks SET state = 'processing', lease_until = now() + interval '1 hour'
                  WHERE id = (SELECT id FROM tasks WHERE workspace_id = $1 AND state = 'pending' LIMIT 1)`
    await ctx.pool.query(text, [id])
    await deleteWorkspace(id)
    await windDownWorkspaces(ctx, never)
    expect(await purgeDeleted(ctx, never)).toBe(0)
    await ctx.pool.query(`UPDATE tasks SET state = 'success', lease_until = NULL WHERE state = 'processing'`)
    await windDownWorkspaces(ctx, never)
    const purged = await Promise.all([1, 2, 3].map(() => purgeDeleted(ctx, never)))
    expect(purged.reduce((sum, count) => sum + count)).toBeGreaterThan(0)
    await untilPurged()
    expect(await rowsOf(id)).toMatchObject({ tasks: 0, runs: 0 })
  })

  it('loses its secrets with the first batch', async () => {
    const id = await storeWorkspace(ctx)
    await fill(id)
    await deleteWorkspace(id)
    await windDownWorkspaces(ctx, never)
    const stop = new AbortController()
    // The log line of the first batch stops the chore.
    const log = Object.assign(Object.create(ctx.log), { info: () => stop.abort() })
    await purgeDeleted({ ...ctx, log }, stop.signal)
    const left = await rowsOf(id)
    expect(left).toMatchObject({ secrets: 0, data_keys: 0, api_keys: 0 })
    expect(left.tasks).toBeGreaterThan(0)
  })
})

it('purges all it can while the objects of 100 workspaces cannot be listed, and keeps only those', async () => {
  const { pool } = ctx
  const [first, second] = [await storeWorkspace(ctx), await storeWorkspace(ctx)]
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO workspaces (id, organization_id, name, deleted_at, wound_down_at)
     SELECT gen_random_uuid(), $1, 'A', now(), now() - interval '1 hour' FROM generate_series(1, 100) RETURNING id`,
    [await organizationOf(first)],
  )
  await pool.query(
    `INSERT INTO data_keys (workspace_id, version, master_key_id, wrapped_key)
     SELECT id, 1, 'k1', 'wrapped' FROM workspaces WHERE deleted_at IS NOT NULL LIMIT 1`,
  )
  await pool.query('UPDATE organizations SET deleted_at = now() WHERE id = $1', [await organizationOf(second)])
  await pool.query('UPDATE workspaces SET deleted_at = now(), wound_down_at = now() WHERE id = $1', [second])
  const place = { bucket: 'logs', prefix: '', endpoint: null, region: 'us-east-1' }
  const list = async (prefix: string) => {
    if (rows.some(({ id }) => prefix === `${toId('ws', id)}/`)) throw new Error('away')
    return []
  }
  const logStorage = { objects: { ...openObjectStorage(place), list }, hotDays: 2 }
  await expect(purgeDeleted({ ...ctx, logStorage }, never)).rejects.toThrow('away')
  const count = async (table: string) => (await pool.query(`SELECT FROM ${table}`)).rowCount
  expect([await count('workspaces'), await count('data_keys'), await count('organizations')]).toEqual([101, 0, 1])
})

it('purges more deleted organizations than one batch', async () => {
  const { pool } = ctx
  await pool.query(
    `INSERT INTO organizations (id, name, slug, tier, deleted_at)
     SELECT gen_random_uuid(), 'A', gen_random_uuid(), 'free', now() FROM generate_series(1, 1001)`,
  )
  expect(await purgeDeleted(ctx, never)).toBe(1001)
})

it('purges a deleted organization after its workspaces, and keeps it in the audit log', async () => {
  const { pool } = ctx
  const [workspaceId, other] = [await storeWorkspace(ctx), await storeWorkspace(ctx)]
  const [organizationId, kept] = [await organizationOf(workspaceId), await organizationOf(other)]
  const entry = `INSERT INTO audit_log (id, organization_id, action, address, object_id) VALUES ($1, $2, 'organization.deleted', '', '')`
  await pool.query(entry, [newUuid(), organizationId])
  await pool.query('UPDATE organizations SET deleted_at = now() WHERE id = $1', [organizationId])
  await purgeDeleted(ctx, never)
  const organizations = async () => (await pool.query('SELECT id FROM organizations')).rows.map(({ id }) => id)
  expect(await organizations()).toHaveLength(2)
  await deleteWorkspace(workspaceId)
  await untilPurged()
  expect(await organizations()).toEqual([kept])
  expect((await pool.query('SELECT FROM audit_log')).rowCount).toBe(1)
})
