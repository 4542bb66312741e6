import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startObjectStore } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Benchmark } from '../benchmark.ts'
import { type Belfry, createApiKey, startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import { interleave } from '../measure/interleave.ts'
import { readProc } from '../measure/proc.ts'
import { type Measured, measured } from '../measure/statistics.ts'

const runs = 100_000
const pages = 10

/** Moves a day to object storage and reads it there, and compares processes with object storage and without. */
export const storedLog: Benchmark = {
  name: 'stored-log',
  title: `A day of ${runs.toLocaleString('en')} runs in object storage`,
  async run(lab, { rounds }) {
    const folder = await mkdtemp(join(tmpdir(), 'belfry-bench-'))
    const store = await startObjectStore(folder)
    const database = await lab.freshDatabase()
    const env = {
      LOG_STORAGE_URL: `s3://${store.bucket}/log?endpoint=${store.endpoint}`,
      AWS_ACCESS_KEY_ID: store.accessKey,
      AWS_SECRET_ACCESS_KEY: store.secretKey,
      LOG_HOT_DAYS: '2',
    }
    const start = (more: Record<string, string>) =>
      startBelfry(lab, database, { services: ['api', 'scheduler'], env: more })
    try {
      const { without, configured } = await interleave(
        { without: () => measureStart(() => start({})), configured: () => measureStart(() => start(env)) },
        rounds,
      )
      const day = await measureDay(database, start, env)
      const values = (starts: Start[], key: keyof Start) => measured(starts.map(one => one[key]))
      return {
        rounds: { without, configured, day },
        figures: [
          ['start_without_ms', 'start of an api and a scheduler without object storage', 'ms', values(without, 'ms')],
          ['start_ms', 'the same with object storage', 'ms', values(configured, 'ms')],
          ['memory_without_mb', 'their memory when ready, without object storage', 'MB', values(without, 'megabytes')],
          ['memory_mb', 'the same with object storage', 'MB', values(configured, 'megabytes')],
          ['memory_used_mb', 'the same after they have moved and read the day', 'MB', measured([day.megabytes])],
          ['moved', 'runs moved a second', 'runs/s', measured([(runs / day.movedMs) * 1000])],
          [
            'postgres_bytes',
            'a run with its task and indexes in PostgreSQL',
            'B',
            measured([day.bytesInPostgres / runs]),
          ],
          ['bytes', 'a run with its task in object storage', 'B', measured([day.bytes / runs])],
          ['first_page_ms', 'the first page, which loads the AWS SDK', 'ms', measured([day.firstMs])],
          ['page_ms', 'a page of 100', 'ms', measured(day.pageMs)],
          ['search_ms', 'a page with a filter that matches no run', 'ms', measured([day.searchMs])],
          ['run_ms', 'one run', 'ms', measured([day.runMs])],
        ].map(([key, title, unit, value]) => ({
          ...{ key: `stored_log_${key}`, title: String(title), unit: String(unit), ...(value as Measured) },
        })),
      }
    } finally {
      await database.close()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

type Start = { ms: number; megabytes: number }

async function measureStart(start: () => Promise<Belfry>): Promise<Start> {
  const began = performance.now()
  const belfry = await start()
  const ms = performance.now() - began
  const megabytes = memoryOf(belfry)
  await belfry.stop()
  return { ms, megabytes }
}

async function measureDay(
  database: Database,
  start: (env: Record<string, string>) => Promise<Belfry>,
  env: Record<string, string>,
) {
  const first = await start({})
  const key = await createApiKey(first.apiUrl)
  await first.stop()
  const bytesInPostgres = await storeDay(database)
  const began = performance.now()
  const belfry = await start(env)
  await waitFor(
    () => countMoved(database),
    ({ moved }) => moved === runs,
    600_000,
  )
  const movedMs = performance.now() - began
  const { bytes } = await countMoved(database)
  const get = async (path: string) => {
    const asked = performance.now()
    const response = await fetch(`${belfry.apiUrl}/api/v1/scheduler/runs${path}`, { headers: { 'X-Api-Key': key } })
    if (response.status !== 200) throw new Error(`The log was answered with ${response.status}.`)
    const { data, next_cursor: next } = (await response.json()) as { data?: Array<{ id: string }>; next_cursor: string }
    return { data, next, ms: performance.now() - asked }
  }
  const firstMs = (await get('?limit=100')).ms
  const pageMs: number[] = []
  let [cursor, oldest] = ['', '']
  for (let page = 0; page < pages; page++) {
    const { data, next, ms } = await get(`?limit=100${cursor}`)
    pageMs.push(ms)
    cursor = `&cursor=${next}`
    oldest = data?.at(-1)?.id ?? ''
  }
  const searchMs = (await get('?limit=100&name=Nothing')).ms
  const runMs = (await get(`/${oldest}`)).ms
  const megabytes = memoryOf(belfry)
  await belfry.stop()
  return { bytesInPostgres, bytes, movedMs, firstMs, pageMs, searchMs, runMs, megabytes }
}

function memoryOf(belfry: Belfry): number {
  const pids = [...belfry.pids('api'), ...belfry.pids('scheduler')]
  const kilobytes = pids.map(pid => Number(/VmRSS:\s+(\d+)/.exec(readProc(`${pid}/status`))?.[1]))
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024
}

async function countMoved({ pool }: Database): Promise<{ moved: number; bytes: number }> {
  const text = `
    SELECT coalesce(sum(succeeded + failed), 0)::int AS moved, coalesce(sum(object_bytes), 0)::float8 AS bytes
    FROM log_parts WHERE state = 'stored'`
  return (await pool.query<{ moved: number; bytes: number }>(text)).rows[0] ?? { moved: 0, bytes: 0 }
}

/** Stores finished tasks with a run each, of one day, in the newest workspace. Returns their bytes in PostgreSQL. */
async function storeDay({ pool }: Database): Promise<number> {
  const sizes = `
    SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c
    WHERE c.relname IN ('tasks', 'task_requests') OR c.relname ~ '^runs_' AND c.relkind = 'r'`
  const sizeOf = async () => (await pool.query<{ bytes: number }>(sizes)).rows[0]?.bytes ?? 0
  const before = await sizeOf()
  await pool.query(`
    CREATE TEMP TABLE made AS
      SELECT uuid_v7(at) AS id, uuid_v7(at) AS run_id, at, w.id AS workspace_id, i
      FROM (SELECT id FROM workspaces ORDER BY created_at DESC LIMIT 1) w, (
        SELECT i, date_trunc('day', now()) - interval '5 days' + i * interval '0.8 s' AS at FROM generate_series(1, ${runs}) i
      ) times;
    INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, finished_at)
      SELECT id, workspace_id, 'task', 'success', 1, at, at, run_id, at FROM made;
    INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
      SELECT id, 'Send invoice ' || i, 'https://hooks.example.com/invoices/' || i, 'POST',
             json_build_object('invoice', md5(i::text), 'customer', md5(i || 'c'), 'amount', i), 5, 'exponential', 1000, 60000, 30000
      FROM made;
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_status,
                      request_headers, response_headers, response_body)
      SELECT run_id, workspace_id, id, 1, 'task', 'success', at, at + interval '9 ms', at + interval '60 ms', 200,
             '{"content-type":"application/json","user-agent":"Belfry"}', '{"content-type":"application/json","x-request-id":"' || md5(i || 'r') || '"}',
             convert_to('{"ok":true,"id":"' || md5(i || 'b') || '"}', 'UTF8')
      FROM made;
    DROP TABLE made`)
  return (await sizeOf()) - before
}
