import type { Benchmark } from '../benchmark.ts'
import { connectTo, createDatabase, type Database, openDatabase } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave, ratioOf } from '../measure/statistics.ts'
import { totalCpuUs } from '../measure/window.ts'
import { belfryCreates } from './create.ts'
import { promotedCalls } from './dispatch.ts'

const small = { name: 'bench_small', tasks: 10_000, runs: 10_000 }
const large = { name: 'bench_large', tasks: 200_000, runs: 1_000_000 }
const months = 5
const counts = { dispatches: 5_000, creates: 6_000 }

/** Compares the CPU of a dispatch and of a create in a large database with that in a small one. */
export const growth: Benchmark = {
  name: 'growth',
  title: `With ${describe(large)} stored against ${describe(small)}`,
  async run(lab, { rounds }) {
    for (const { name, tasks, runs } of [small, large]) {
      await createDatabase(lab.postgres, name)
      await fillDatabase(lab.postgres.url(name), tasks, runs)
    }
    const samples = await interleave(
      {
        small: async () => measure(lab, await openDatabase(lab.postgres, small.name)),
        // Copying it would take longer than a round, so it keeps the rows of earlier rounds.
        large: () => measure(lab, connectTo(lab.postgres.url(large.name))),
      },
      rounds,
    )
    const cpu = (side: 'small' | 'large', what: 'dispatch' | 'create') =>
      samples[side].map(sample => totalCpuUs(sample[what]))
    return {
      rounds: samples,
      figures: [
        {
          key: 'growth_dispatch_cpu',
          title: 'CPU of a dispatch over Node, PostgreSQL and Redis, large / small database',
          ...ratioOf(cpu('large', 'dispatch'), cpu('small', 'dispatch')),
          limit: { atMost: 1.15 },
        },
        {
          key: 'growth_create_cpu',
          title: 'CPU of a create over Node and PostgreSQL, large / small database',
          ...ratioOf(cpu('large', 'create'), cpu('small', 'create')),
          limit: { atMost: 1.15 },
        },
      ],
    }
  },
}

async function measure(lab: Lab, opened: Database) {
  await using database = opened
  await lab.redis.client.flushall()
  return {
    dispatch: await promotedCalls(lab, database, { concurrency: 200, count: counts.dispatches }),
    create: await belfryCreates(lab, database, { requests: counts.creates }),
  }
}

function describe({ tasks, runs }: { tasks: number; runs: number }): string {
  return `${runs.toLocaleString('en')} runs and ${tasks.toLocaleString('en')} tasks`
}

// Nine tenths of the tasks are finished, spread evenly over the months before now; the others are due in the far future.
// The first workspace has about half of them.
async function fillDatabase(url: string, tasks: number, runs: number): Promise<void> {
  await using database = connectTo(url)
  const client = await database.pool.connect()
  // Triggers do not run: the scheduler would count the runs while the rounds are measured.
  await client.query('SET session_replication_role = replica')
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
  await client.query('VACUUM ANALYZE')
  await client.query('CHECKPOINT')
  client.release(true)
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
