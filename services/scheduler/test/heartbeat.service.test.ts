import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { beatScheduler } from '@belfry/db/dispatchers/beat-scheduler'
import { openPool } from '@belfry/db/postgres/pool'
import { createLogger, openHost } from '@belfry/runtime'
import { createTestDatabase } from '@belfry/test-support'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { backgroundLoops, timelyLoops } from '../src/loops.ts'
import { startScheduler } from '../src/start-scheduler.ts'
import { openTestContext, storeTasks, storeWorkspace } from './setup.ts'

let ctx: Awaited<ReturnType<typeof openTestContext>>
beforeEach(async () => {
  ctx = await openTestContext()
})
afterEach(() => ctx.close())

const due = async () => (await beatScheduler(ctx.pool, randomUUID())).due
const nil = '00000000-0000-0000-0000-000000000000'

// One row that makes each search find something.
const works = {
  'advance-rated-queues': `INSERT INTO queues (id, workspace_id, name, advance_at) VALUES (gen_random_uuid(), $1, 'a', now() - interval '1 ms')`,
  'expire-tasks': `UPDATE tasks SET expires_at = now() - interval '1 ms', workspace_id = $1`,
  'fold-runs': `INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms) VALUES ($1, now(), false, 1, '{0}')`,
  'fold-usage': `INSERT INTO usage_changes (workspace_id, executions) VALUES ($1, 1)`,
  'send-audit-logs': `INSERT INTO audit_stream_entries (organization_id, entry_id) SELECT organization_id, $1 FROM audit_streams`,
  'step-bulk-operations': `INSERT INTO bulk_operations (id, workspace_id, action, filter, total) VALUES (gen_random_uuid(), $1, 'cancel', '{}', 1)`,
  'wind-down-workspaces': `UPDATE workspaces SET deleted_at = now() WHERE id = $1`,
  'write-audit-file': `INSERT INTO audit_stream_entries (organization_id, entry_id) VALUES ('${nil}', $1)`,
}

it.each(Object.entries(works))('finds work for %s', async (chore, text) => {
  const workspace = await storeWorkspace(ctx)
  await storeTasks(ctx, [60_000])
  await ctx.pool.query(`DELETE FROM usage_changes`)
  await ctx.pool.query(
    `INSERT INTO audit_streams (organization_id) SELECT organization_id FROM workspaces WHERE id = $1`,
    [workspace],
  )
  expect(await due()).toEqual([])
  await ctx.pool.query(text, [workspace])
  expect(await due()).toEqual([chore])
  const loops = [...timelyLoops(ctx), ...backgroundLoops({ ...ctx, auditLogFile: '-' })]
  expect(loops.map(({ name }) => name)).toContain(chore)
})

it('reads the heartbeats of dispatchers', async () => {
  const { heartbeats } = await beatScheduler(ctx.pool, randomUUID())
  expect(heartbeats).toEqual([])
  await ctx.pool.query(`INSERT INTO dispatchers (id, session, beats) VALUES ($1, $1, 7)`, [nil])
  expect((await beatScheduler(ctx.pool, randomUUID())).heartbeats).toEqual([{ id: nil, beats: 7 }])
})

it('wakes a chore within two seconds, however long there was nothing to do', async () => {
  const database = await createTestDatabase()
  const log = createLogger('scheduler', 'silent')
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // each chore listens
  const host = await openHost(log, stop.signal, { roles: ['scheduler'], operatorListen: null, traces: false })
  const service = await startScheduler(loadConfig({ DATABASE_URL: database.url }), log, host)
  const pool = openPool(database.url, { max: 1, onError: error => console.error(error) })
  onTestFinished(async () => {
    stop.abort()
    await service.drain()
    await host.close()
    await pool.end()
    await database.drop()
  })
  await sleep(6_500) // the pauses are 2, 4, 8 seconds, and so on
  await pool.query(works['fold-runs'], [randomUUID()])
  const left = async () => (await pool.query('SELECT FROM run_changes')).rowCount
  await expect.poll(left, { timeout: 3_000 }).toBe(0)
})
