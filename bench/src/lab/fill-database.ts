import { statfsSync } from 'node:fs'
import pg from 'pg'

/** How many rows a large installation has. Each run has a finished task of its own. */
export type Stored = { waiting: number; runs: number; workspaces: number; cronJobs: number }

const chunk = 500_000
/** Over how many days before now the runs are spread. */
const days = 30
// Measured: a task with its request and its share of the indexes, and the same with a run.
const bytesPerRow = { waiting: 1_000, runs: 1_700 }
// WAL, sorts of the indexes, and what other programs use meanwhile.
const spareBytes = 12e9

/**
 * Fills a migrated database that nothing else uses, as if an installation had run for a month. The workspace of the API
 * key has a fifth of all rows. Triggers do not run, and secondary indexes are built at the end.
 * @param folder - Where the files of the server are.
 */
export async function fillDatabase(url: string, stored: Stored, folder: string): Promise<void> {
  requireDisk(stored, folder)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SET session_replication_role = replica`,
    )
    const indexes = await dropIndexes(client)
    await addTenants(client, stored)
    await client.query(pastPartitions)
    const { rows } = await client.query<{ end: string }>('SELECT now()::text AS end')
    const end = rows[0]?.end
    await inChunks(stored.waiting, (from, to) => client.query(waitingTasks, [from, to, stored.waiting, end]))
    await inChunks(stored.runs, async (from, to) => {
      for (const text of [finishedTasks, theirRuns]) await client.query(text, [from, to, stored.runs, end])
    })
    for (const text of indexes) await client.query(text)
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

function requireDisk(stored: Stored, folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const needed = stored.waiting * bytesPerRow.waiting + stored.runs * bytesPerRow.runs + spareBytes
  if (bavail * bsize < needed)
    throw new Error(`The fill needs ${Math.ceil(needed / 1e9)} GB of free disk in ${folder}.`)
}

async function inChunks(count: number, fill: (from: number, to: number) => Promise<unknown>): Promise<void> {
  for (let from = 1; from <= count; from += chunk) await fill(from, Math.min(count, from + chunk - 1))
}

// Returns the statements that create them again.
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; text: string }>(
    `SELECT indexrelid::regclass::text AS name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS text
     FROM pg_index WHERE indrelid IN ('tasks'::regclass, 'runs'::regclass) AND NOT indisprimary`,
  )
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`)
  return rows.map(({ text }) => text)
}

async function addTenants(client: pg.Client, { workspaces, cronJobs }: Stored): Promise<void> {
  await client.query(
    `WITH added AS (
       INSERT INTO organizations (id, name, slug, tier)
       SELECT uuid_v7(now() - n * interval '1 ms'), 'Tenant ' || n, 'tenant-' || n, 'unicorn' FROM generate_series(1, $1::int) n
       RETURNING id, name
     ), storages AS (INSERT INTO storage (organization_id, bytes) SELECT id, 1000 FROM added),
     used AS (
       INSERT INTO usage_days (organization_id, day, executions, failed)
       SELECT id, (now() AT TIME ZONE 'UTC')::date - d, 100, 1 FROM added, generate_series(0, ${days}) d
     )
     INSERT INTO workspaces (id, organization_id, name) SELECT uuid_v7(now()), id, name FROM added`,
    [workspaces],
  )
  await client.query(`
    CREATE TEMPORARY TABLE homes AS
    SELECT id, row_number() OVER (
      ORDER BY NOT EXISTS (SELECT FROM api_keys k WHERE k.workspace_id = workspaces.id), created_at, id
    ) AS n FROM workspaces`)
  await client.query('CREATE UNIQUE INDEX ON homes (n)')
  await client.query('ANALYZE homes')
  await client.query(
    `INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, next_run_at, url, method,
                            max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT uuid_v7(now() - c * interval '1 ms'), homes.id, 'Nightly ' || c, '0 3 * * *', 'UTC', 'allow', 'none',
            now() + interval '1 day' + c * interval '100 ms', 'http://127.0.0.1:9/', 'POST', 3, 'exponential', 1000, 3600000, 30000
     FROM generate_series(1, $1::int) c JOIN homes ON homes.n = 1 + c % (SELECT count(*) FROM homes)`,
    [cronJobs],
  )
}

const home = `homes.n = CASE WHEN i % 5 = 0 THEN 1 ELSE 1 + i % (SELECT count(*) FROM homes) END`
const requestColumns = `task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms`
const requestValues = `'Task ' || i, 'http://127.0.0.1:9/', 'POST', '{"order":1,"note":"${'x'.repeat(150)}"}',
  3, 'exponential', 1000, 3600000, 30000`

// Created over the last month, and due over the next year.
const waitingTasks = `
  WITH input AS MATERIALIZED (
    SELECT i, homes.id AS workspace_id, at, uuid_v7(at, md5('waiting' || i)::uuid) AS id,
           $4::timestamptz + interval '1 day' + random() * interval '364 days' AS due_at
    FROM generate_series($1::int, $2::int) i JOIN homes ON ${home},
         LATERAL (SELECT $4::timestamptz - interval '${days} days' * (1 - i / ($3 + 1.0)) AS at) times
  ), requests AS (INSERT INTO task_requests (${requestColumns}) SELECT id, ${requestValues} FROM input)
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, created_at, updated_at)
  SELECT id, workspace_id, 'task', due_at, due_at, at, at FROM input`

// The ids follow from the number, so the runs find their tasks without a join. One in fifty is dead.
const finished = `
  SELECT i, homes.id AS workspace_id, at, uuid_v7(at - interval '10 s', md5('finished' || i)::uuid) AS id,
         uuid_v7(at, md5('run' || i)::uuid) AS run_id, i % 50 = 0 AS is_dead
  FROM generate_series($1::int, $2::int) i JOIN homes ON ${home},
       LATERAL (SELECT $4::timestamptz - interval '${days} days' * (1 - i / ($3 + 1.0)) AS at) times`

const finishedTasks = `
  WITH input AS MATERIALIZED (${finished}),
  requests AS (INSERT INTO task_requests (${requestColumns}) SELECT id, ${requestValues} FROM input)
  INSERT INTO tasks (id, workspace_id, source, state, attempts, run_id, execute_at, due_at, created_at, updated_at, finished_at)
  SELECT id, workspace_id, 'task', CASE WHEN is_dead THEN 'dead' ELSE 'success' END::task_state, 1, run_id,
         at, at, at - interval '10 s', at, at
  FROM input`

const theirRuns = `
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                    request_headers, response_status, response_headers, response_body, response_bytes)
  SELECT run_id, workspace_id, id, 1, 'task', CASE WHEN is_dead THEN 'failed' ELSE 'success' END::run_status,
         at, at, at + interval '50 ms', '{"user-agent":"Belfry"}', CASE WHEN is_dead THEN 500 ELSE 200 END, '{}',
         '\\x${'61'.repeat(98)}', 98
  FROM (${finished}) input`

const pastPartitions = `
  DO $$
  DECLARE month timestamptz;
  BEGIN
    SET LOCAL timezone = 'UTC';
    FOR i IN 1..2 LOOP
      month := date_trunc('month', now()) - make_interval(months => i);
      EXECUTE format('CREATE TABLE run_partitions.%I PARTITION OF runs FOR VALUES FROM (%L) TO (%L)',
        'runs_' || to_char(month, 'YYYY_MM'), uuid_v7_floor(month), uuid_v7_floor(month + interval '1 month'));
    END LOOP;
  END $$`
