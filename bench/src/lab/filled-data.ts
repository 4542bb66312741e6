import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findInstalledPostgres, type Postgres } from '@belfry/embedded'
import { repositoryRoot } from './child-process.ts'
import { connectTo, createDatabase, createTemplate, type Database, openDatabase } from './database.ts'
import { postgresSettings } from './lab.ts'
import { startBenchPostgres } from './servers.ts'

/** The number of stored rows. */
export type Stored = { tasks: number; runs: number }

export const few: Stored = { tasks: 10_000, runs: 10_000 }
export const many: Stored = { tasks: 1_000_000, runs: 5_000_000 }

export type FilledPostgres = {
  postgres: Postgres
  /** Returns a copy of the small database. */
  openFew(): Promise<Database>
  /** Returns the large database, with everything that earlier rounds added to it. */
  openMany(): Promise<Database>
}

const cache = join(repositoryRoot, 'bench/.cache')
const names = { few: 'bench_few', many: 'bench_many' }
const months = 5

// With durable writes filling takes minutes.
const fillSettings = {
  ...postgresSettings,
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  maintenance_work_mem: '1GB',
  max_wal_size: '1GB',
}

/**
 * Starts a PostgreSQL with a small and a large database. They are filled once and kept in bench/.cache until the
 * migrations or the server change.
 */
export async function startFilledPostgres(): Promise<FilledPostgres> {
  const dataDir = join(cache, `filled-${hashOfContents()}`)
  if (!existsSync(dataDir)) await fill(dataDir)
  const postgres = await startBenchPostgres(dataDir, postgresSettings)
  return {
    postgres,
    openFew: () => openDatabase(postgres, names.few),
    openMany: async () => connectTo(postgres.url(names.many)),
  }
}

// Increase it when fillDatabase changes.
const fillVersion = '3'

function hashOfContents(): string {
  const folder = join(repositoryRoot, 'prisma/migrations')
  const hash = createHash('sha256')
    .update(fillVersion)
    .update(findInstalledPostgres()?.postgres ?? 'embedded')
  for (const name of readdirSync(folder).toSorted()) {
    const file = join(folder, name, 'migration.sql')
    if (existsSync(file)) hash.update(name).update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 12)
}

async function fill(dataDir: string): Promise<void> {
  console.log(`Filling a database with ${many.tasks} tasks and ${many.runs} runs. This takes some minutes, once ...`)
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const draft = `${dataDir}.draft`
  const postgres = await startBenchPostgres(draft, fillSettings)
  try {
    await createTemplate(postgres)
    for (const [name, stored] of [[names.few, few] as const, [names.many, many] as const]) {
      await createDatabase(postgres, name)
      await fillDatabase(postgres.url(name), stored)
    }
  } finally {
    await postgres.stop()
  }
  renameSync(draft, dataDir) // only a complete folder has this name
}

// Nine tenths of the tasks are finished, spread evenly over the months before now; the others are due in the far future.
// The first workspace has about half of them.
async function fillDatabase(url: string, { tasks, runs }: Stored): Promise<void> {
  const { pool, close } = connectTo(url)
  const client = await pool.connect()
  await client.query(createPastPartitions)
  await client.query(`
    CREATE TEMPORARY TABLE old AS
    WITH homes AS (SELECT array_agg(id) AS ids FROM workspaces)
    SELECT n, at, uuid_v7(at, md5(n::text)::uuid) AS id, n <= ${tasks} * 0.9 AS is_finished,
           homes.ids[CASE WHEN n % 5 < 2 THEN 1 ELSE 1 + n % array_length(homes.ids, 1) END] AS workspace_id
    FROM homes, generate_series(1, ${tasks}) n, LATERAL (
      SELECT date_trunc('second', now()) - interval '${months} months' * (1 - n / ${tasks + 1}.0) AS at
    ) times`)
  await client.query(`
    INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, created_at, updated_at, finished_at)
    SELECT id, workspace_id, 'task', CASE WHEN is_finished THEN 'success' ELSE 'pending' END::task_state,
           CASE WHEN is_finished THEN 1 ELSE 0 END, due, due, at, at, CASE WHEN is_finished THEN due END
    FROM old, LATERAL (SELECT CASE WHEN is_finished THEN at ELSE now() + interval '1 year' + n * interval '1 s' END AS due) d`)
  await client.query(`
    INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
    SELECT id, 'Old', 'http://127.0.0.1:9/', 'POST', '{"order":1,"note":"${'x'.repeat(200)}"}',
           3, 'exponential', 1000, 3600000, 30000
    FROM old`)
  await client.query(`
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      request_headers, response_status, response_headers, response_body, response_bytes)
    SELECT uuid_v7(at + k * interval '1 s'), workspace_id, id, k + 1, 'task',
           CASE WHEN (n + k) % 20 = 0 THEN 'failed' ELSE 'success' END::run_status,
           at, at + k * interval '1 s', at + k * interval '1 s' + interval '50 ms',
           '${JSON.stringify({ 'user-agent': 'x'.repeat(100) })}',
           CASE WHEN (n + k) % 20 = 0 THEN 500 ELSE 200 END, '{}', '\\x${'61'.repeat(98)}', 98
    FROM old, generate_series(0, ${runs / tasks} - 1) k`)
  client.release(true)
  await close()
  const settled = connectTo(url)
  await settled.pool.query('VACUUM ANALYZE')
  await settled.pool.query('CHECKPOINT')
  await settled.close()
}

// The same partitions that create_run_partitions makes for the months ahead.
const createPastPartitions = `
  DO $$
  DECLARE month timestamptz;
  BEGIN
    SET LOCAL timezone = 'UTC';
    FOR i IN 1..${months} LOOP
      month := date_trunc('month', now()) - make_interval(months => i);
      EXECUTE format('CREATE TABLE run_partitions.%I PARTITION OF runs FOR VALUES FROM (%L) TO (%L)',
        'runs_' || to_char(month, 'YYYY_MM'), uuid_v7_floor(month), uuid_v7_floor(month + interval '1 month'));
    END LOOP;
  END $$`
