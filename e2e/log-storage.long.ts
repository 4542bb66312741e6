import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  createTestDatabase,
  findObjectStore,
  type ObjectStore,
  serviceUrl,
  startObjectStore,
} from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RunningService, spawnService, startService } from './processes.ts'

const runsOfDay = 40

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('kill -9 of the scheduler that moves a day to object storage', () => {
  let folder: string
  let store: ObjectStore
  let proxy: Server
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  let pool: pg.Pool
  let doomed: RunningService | null
  /** When the proxy kills the scheduler. */
  let killAt: 'before the upload' | 'after the upload' | null
  let ids: string[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-log-'))
    store = await startObjectStore(folder)
    proxy = createServer((incoming, response) => {
      const isKilled = (moment: typeof killAt) => {
        if (moment !== killAt || incoming.method !== 'PUT' || doomed === null) return false
        process.kill(doomed.pid, 'SIGKILL')
        return true
      }
      if (isKilled('before the upload')) return
      const { headers, method } = incoming
      const outgoing = request(new URL(incoming.url ?? '', store.endpoint), { headers, method }, answer => {
        if (isKilled('after the upload')) return
        answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers))
      })
      incoming.on('error', () => {}).pipe(outgoing.on('error', () => response.destroy()))
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
  })
  afterAll(async () => {
    proxy?.close()
    await store?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    database = await createTestDatabase()
    pool = new pg.Pool({ connectionString: database.url, max: 3 })
    ids = await storeDay()
    return async () => {
      await doomed?.stop('SIGKILL')
      await pool.end()
      await database.drop()
    }
  })

  it.each(['before the upload', 'after the upload'] as const)('%s', async moment => {
    killAt = moment
    doomed = spawnService('scheduler', environment())
    expect(await doomed.ended).toBe('SIGKILL')
    expect(await states()).toEqual(['writing'])
    expect(await inPostgres()).toEqual(ids)
    await afterwards()
  })

  it.each([
    ['in the transaction that deletes the runs', 'BEFORE', 'writing'],
    ['after that transaction', 'AFTER', 'stored'],
  ] as const)('%s', async (_, time, state) => {
    // A trigger waits for a lock within the transaction; or it notifies, which happens at the commit.
    const waits = 'PERFORM pg_advisory_xact_lock(42);'
    const body = time === 'BEFORE' ? waits : `PERFORM pg_notify('stored', '');`
    await pool.query(`
      CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
      CREATE TRIGGER stop_here BEFORE UPDATE ON log_parts FOR EACH ROW WHEN (NEW.state = 'stored') EXECUTE FUNCTION stop_here()`)
    const client = await pool.connect()
    try {
      await client.query('LISTEN stored')
      await client.query('SELECT pg_advisory_lock(42)')
      const stored = once(client, 'notification')
      doomed = spawnService('scheduler', environment())
      if (time === 'AFTER') await stored
      else
        await waitFor(
          () => pool.query(waiting),
          ({ rowCount }) => rowCount === 1,
          60_000,
        )
      expect(await doomed.stop('SIGKILL')).toBe('SIGKILL')
      await client.query('SELECT pg_advisory_unlock(42)')
      await waitFor(
        () => pool.query(connections),
        ({ rowCount }) => rowCount === 0,
        60_000,
      )
    } finally {
      client.release(true)
    }
    expect(await states()).toEqual([state])
    expect(await inPostgres()).toEqual(state === 'writing' ? ids : [])
    await pool.query('DROP TRIGGER stop_here ON log_parts')
    await afterwards()
  })

  const connections = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'belfry-scheduler'`
  const waiting = `${connections} AND wait_event_type = 'Lock' AND wait_event = 'advisory'`

  /** Starts further schedulers, as long after the death as they wait for an upload, and checks that all runs are there once. */
  async function afterwards(): Promise<void> {
    killAt = null
    await pool.query(`UPDATE log_parts SET created_at = created_at - interval '16 minutes'`)
    const outputs: string[] = []
    // A start makes one round: one removes what the dead one has left, perhaps after it looked for runs to move. A round that fails
    // on a busy machine is repeated by the next.
    while ((await states()).join() !== 'stored' || outputs.length === 0) {
      expect(outputs.length, outputs.join('\n')).toBeLessThan(4)
      const scheduler = await startService('scheduler', environment())
      await waitFor(states, found => found.length === 0 || found.join() === 'stored', 20_000).catch(() => {})
      expect(await scheduler.stop()).toBe(0)
      outputs.push(scheduler.output)
    }
    expect(await inPostgres()).toEqual([])
    expect(await inStorage()).toEqual(ids)
    await rm(join(folder, 'objects', store.bucket, 'log'), { recursive: true })
  }

  function environment(): Record<string, string> {
    return {
      DATABASE_URL: serviceUrl(database.url, 'scheduler'),
      METRICS_PORT: '0',
      LOG_HOT_DAYS: '2',
      LOG_STORAGE_URL: `s3://${store.bucket}/log?endpoint=http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: store.accessKey,
      AWS_SECRET_ACCESS_KEY: store.secretKey,
    }
  }

  async function states(): Promise<string[]> {
    return (await pool.query('SELECT state FROM log_parts ORDER BY created_at')).rows.map(({ state }) => state)
  }

  async function inPostgres(): Promise<string[]> {
    return (await pool.query('SELECT id FROM runs ORDER BY id')).rows.map(({ id }) => id)
  }

  // The server keeps objects as files.
  async function inStorage(): Promise<string[]> {
    const place = join(folder, 'objects', store.bucket, 'log')
    const objects = (await readdir(place, { recursive: true })).filter(name => name.endsWith('.jsonl.gz'))
    expect(objects).toHaveLength(1)
    const text = gunzipSync(await readFile(join(place, objects[0] ?? ''))).toString()
    return text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).run.id)
      .sort()
  }

  /** Stores finished tasks with a run each, of one day. Returns the runs. */
  async function storeDay(): Promise<string[]> {
    const text = `
      WITH organization AS (
        INSERT INTO organizations (id, name, slug, tier) VALUES (gen_random_uuid(), 'A', 'a', 'unicorn') RETURNING id
      ),
      workspace AS (
        INSERT INTO workspaces (id, organization_id, name) SELECT gen_random_uuid(), id, 'A' FROM organization RETURNING id
      ),
      made AS (
        SELECT uuid_v7(at) AS id, uuid_v7(at) AS run_id, at, workspace.id AS workspace_id FROM workspace, (
          SELECT date_trunc('day', now()) - interval '4 days 12 hours' + i * interval '1 s' AS at FROM generate_series(1, ${runsOfDay}) i
        ) times
      ),
      tasks_made AS (
        INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, finished_at)
        SELECT id, workspace_id, 'task', 'success', 1, at, at, run_id, at FROM made
      ),
      requests AS (
        INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
        SELECT id, 'A task', 'https://example.com/', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made
      )
      INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
      SELECT run_id, workspace_id, id, 1, 'task', 'success', at, at, at FROM made RETURNING id`
    return (await pool.query<{ id: string }>(text)).rows.map(({ id }) => id).sort()
  }
})
