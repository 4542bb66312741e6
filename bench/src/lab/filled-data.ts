import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findInstalledPostgres, type Postgres } from '@belfry/embedded'
import { connectTo, createDatabase, createTemplate, type Database, openDatabase } from './database.ts'
import { repositoryRoot } from './places.ts'
import { startBenchPostgres } from './servers.ts'

/** How much is stored already. */
export type Stored = { tasks: number; runs: number }

export const few: Stored = { tasks: 10_000, runs: 10_000 }
export const many: Stored = { tasks: 1_000_000, runs: 5_000_000 }

export type FilledPostgres = {
  postgres: Postgres
  /** A copy of what holds little. */
  openFew(): Promise<Database>
  /** What holds much, with what earlier rounds have added to it. */
  openMany(): Promise<Database>
}

const cache = join(repositoryRoot, 'bench/.cache')
const names = { few: 'bench_few', many: 'bench_many' }
const months = 5

// Nothing of this is needed once the data is on the disk, and filling takes minutes with it.
const fillSettings = {
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
 * Starts a PostgreSQL with one database that holds little and one that holds much. It is filled once and kept in
 * bench/.cache for as long as the migrations and the server stay the same.
 */
export async function startFilledPostgres(): Promise<FilledPostgres> {
  const dataDir = join(cache, `filled-${hashOfContents()}`)
  if (!existsSync(dataDir)) await fill(dataDir)
  const postgres = await startBenchPostgres(dataDir)
  return {
    postgres,
    openFew: () => openDatabase(postgres, names.few),
    openMany: async () => connectTo(postgres.url(names.many)),
  }
}

// To be raised whenever something else is filled in.
const filling = '2'

function hashOfContents(): string {
  const folder = join(repositoryRoot, 'prisma/migrations')
  const hash = createHash('sha256')
    .update(filling)
    .update(findInstalledPostgres()?.postgres ?? 'embedded')
  for (const name of readdirSync(folder).toSorted()) {
    const file = join(folder, name, 'migration.sql')
    if (existsSync(file)) hash.update(name).update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 12)
}

async function fill(dataDir: string): Promise<void> {
  console.log(`Filling a database with ${many.tasks} tasks and ${many.runs} runs; this takes some minutes, once ...`)
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const draft = `${dataDir}.draft`
  const postgres = await startBenchPostgres(draft, fillSettings)
  try {
    await createTemplate(postgres)
    for (const [name, stored] of [
      [names.few, few],
      [names.many, many],
    ] as const) {
      await createDatabase(postgres, name)
      await fillDatabase(postgres.url(name), stored)
    }
  } finally {
    await postgres.stop()
  }
  renameSync(draft, dataDir) // only what is complete has the name
}

async function fillDatabase(url: string, { tasks, runs }: Stored): Promise<void> {
  const { pool, close } = connectTo(url)
  const client = await pool.connect()
  await client.query(createPastPartitions)
  // Nine tenths are finished, spread evenly over the months before now; the others are far in the future. Two fifths and
  // more belong to the first workspace. Three tenths come from 300 cron jobs, and some from events.
  await client.query(`
    CREATE TEMPORARY TABLE old AS
    WITH homes AS (SELECT array_agg(id) AS ids FROM workspaces)
    SELECT n, at, uuid_v7(at, md5(n::text)::uuid) AS id, homes.ids[CASE WHEN n % 5 < 2 THEN 1 ELSE 1 + n % array_length(homes.ids, 1) END] AS workspace_id,
           n <= ${tasks} * 0.9 AS is_finished,
           (CASE WHEN n % 1000 < 300 THEN 'cron' WHEN n % 1000 < 320 THEN 'event' ELSE 'task' END)::task_source AS source,
           CASE WHEN n % 1000 < 300 THEN uuid_v7_floor(to_timestamp(n % 1000)) END AS cron_job_id,
           CASE WHEN n % 1000 BETWEEN 300 AND 319 THEN 'orders.' || (n % 1000 - 300) END AS topic
    FROM homes, generate_series(1, ${tasks}) n, LATERAL (
      SELECT date_trunc('second', now()) - interval '${months} months' * (1 - n / ${tasks + 1}.0) AS at
    ) times`)
  await client.query(`
    INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, cron_job_id, created_at, updated_at,
                       finished_at)
    SELECT id, workspace_id, source, CASE WHEN is_finished THEN 'success' ELSE 'pending' END::task_state,
           CASE WHEN is_finished THEN 1 ELSE 0 END, due, due, cron_job_id, at, at, CASE WHEN is_finished THEN due END
    FROM old, LATERAL (SELECT CASE WHEN is_finished THEN at ELSE now() + interval '1 year' + n * interval '1 s' END AS due) d`)
  await client.query(`
    INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, topic)
    SELECT id, CASE WHEN n % 100000 = 5 THEN 'Rare' ELSE 'Old' END, 'http://127.0.0.1:9/', 'POST', '{"order":1,"note":"${'x'.repeat(200)}"}', 3, 'exponential', 1000, 3600000, 30000, topic
    FROM old`)
  await client.query(`
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      request_headers, response_status, response_headers, response_body, response_bytes, cron_job_id, topic)
    SELECT uuid_v7(at + k * interval '1 s'), workspace_id, id, k + 1, source,
           CASE WHEN (n + k) % 20 = 0 THEN 'failed' ELSE 'success' END::run_status,
           at, at + k * interval '1 s', at + k * interval '1 s' + interval '50 ms',
           '${JSON.stringify({ 'user-agent': 'x'.repeat(100) })}',
           CASE WHEN (n + k) % 20 = 0 THEN CASE WHEN n % 50000 = 0 THEN 418 ELSE 500 END ELSE 200 END,
           '{}', '\\x${'61'.repeat(98)}', 98, cron_job_id, topic
    FROM old, generate_series(0, ${runs / tasks} - 1) k`)
  client.release(true)
  await close()
  const settled = connectTo(url)
  await settled.pool.query('VACUUM ANALYZE')
  await settled.pool.query('CHECKPOINT')
  await settled.close()
}

// As create_run_partitions makes those of the months ahead.
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
