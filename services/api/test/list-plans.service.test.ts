import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { createTestDatabase } from '@belfry/test-support'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CronJobFilter, scanCronJobs } from '../src/cron-jobs/read-cron-jobs.ts'
import { readBounded, type Scan } from '../src/http/bounded-page.ts'
import { groupFailures } from '../src/runs/count-runs.ts'
import { type RunFilter, scanRuns } from '../src/runs/run-scan.ts'
import { searchNames } from '../src/search/search.ts'
import { scanTasks, type TaskFilter } from '../src/tasks/read-tasks.ts'

const manyRows = 20_000
// Far fewer than a real request may scan, to make a list that reads more stand out.
const maxScanned = 300
const maxRows = 1_000

const anId = (kind: number, n: number) => `00000000-0000-7000-8${kind}00-${n.toString(16).padStart(12, '0')}`
const workspaces = Array.from({ length: 10 }, (_, n) => anId(0, n))
const [big = ''] = workspaces
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

let pool: Pool
let drop: () => Promise<void>

beforeAll(async () => {
  const database = await createTestDatabase()
  drop = database.drop
  pool = openPool(database.url, { max: 2, onError: error => console.error(error) })
  await pool.query(
    `CREATE FUNCTION an_id(kind int, n bigint) RETURNS uuid LANGUAGE sql AS
       $$ SELECT ('00000000-0000-7000-8' || kind || '00-' || lpad(to_hex(n), 12, '0'))::uuid $$;
     INSERT INTO organizations (id, name, slug, tier) VALUES (an_id(9, 0), 'A', 'a', 'free');
     INSERT INTO workspaces (id, organization_id, name) SELECT an_id(0, n), an_id(9, 0), 'A' FROM generate_series(0, 9) n;
     -- Nearly everything belongs to the first workspace and has succeeded.
     CREATE TEMPORARY TABLE made AS
       SELECT n, an_id(0, CASE WHEN n % 100 = 0 THEN 1 + n / 100 % 9 ELSE 0 END) AS ws,
              now() - n * interval '1 minute' AS at FROM generate_series(1, ${manyRows}) n`,
  )
  await pool.query(
    `INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, cron_job_id, finished_at)
     SELECT uuid_v7(at), ws, 'task', (CASE n % 500 WHEN 1 THEN 'dead' WHEN 2 THEN 'pending' ELSE 'success' END)::task_state,
            1, at, at, CASE WHEN n % 3 = 0 THEN an_id(1, n % 7) END, CASE WHEN n % 500 <> 2 THEN at END FROM made;
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, 'common', 'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM tasks;
     INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                       response_status, cron_job_id, topic)
     SELECT uuid_v7(at), ws, an_id(2, n / 3), 1 + n % 3, 'task', (CASE WHEN n % 300 = 1 THEN 'failed' ELSE 'success' END)::run_status,
            at, at, at, 200, CASE WHEN n % 3 = 0 THEN an_id(1, n % 7) END, CASE WHEN n % 3 = 1 THEN 'orders' END FROM made;
     INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, paused_at, url, method,
                            max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT uuid_v7(at), ws, 'common', '* * * * *', 'UTC', 'allow', 'latest', CASE WHEN n % 5000 = 1 THEN at END,
            'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
  )
  await pool.query('ANALYZE')
  await pool.query(
    `CREATE TABLE measured AS
     SELECT oid, reltuples FROM pg_class WHERE relname ~ '^(tasks|task_requests|cron_jobs|runs)'`,
  )
}, 120_000)

afterAll(async () => {
  await pool.end()
  await drop()
})

const taskFilters: Record<string, TaskFilter> = {
  'no filter': {},
  'an event': { event_id: ['019b0000-0000-7000-8000-000000000000'] },
  'a state': { state: ['success'] },
  'a rare state': { state: ['dead'] },
  'two states': { state: ['pending', 'retrying'] },
  'a name that all have': { name: 'com' },
  'a name that none has': { name: 'rare' },
  'a source that none has': { source: ['cron'] },
  'a range of time': { from: daysAgo(10), to: daysAgo(9) },
  'cron jobs': { cronjob_id: [anId(1, 0), anId(1, 3)] },
  'ids of a state': { ids: [anId(2, 5), anId(2, 7)], state: ['success'] },
  'a state and a name that none has': { state: ['success'], name: 'rare' },
}

const runFilters: Record<string, RunFilter> = {
  'no filter': {},
  failures: { status: ['failed'] },
  successes: { status: ['success'] },
  'a task': { task_id: [anId(2, 5)] },
  'cron jobs': { cronjob_id: [anId(1, 0), anId(1, 3)] },
  'a topic': { topic: ['orders'] },
  'a status that none has': { response_status: [{ from: 500, to: 599 }] },
  'an error': { error: ['timeout'] },
  'a name that none has': { name: 'rare' },
  'a host that none has': { host: ['rare.example.com'] },
  'all but a source': { not_source: ['task'] },
  'all but a topic and a cron job': { not_topic: ['orders'], not_cronjob_id: [anId(1, 0)] },
  'all but statuses and errors': { not_response_status: [{ from: 200, to: 299 }], not_error: ['timeout'] },
  'all but a name and a host': { not_name: ['com'], not_host: ['example.com'] },
  'failures without a host': { status: ['failed'], not_host: ['example.com'] },
  'a lag that none has': { late_ms: 60_000 },
  'a day': { from: daysAgo(10), to: daysAgo(9) },
}

const cronJobFilters: Record<string, CronJobFilter> = {
  'no filter': {},
  'a status': { status: ['active'] },
  'a rare status': { status: ['paused'] },
  'a status that none has': { status: ['ended'] },
  'a name that all have': { name: 'com' },
  'a name that none has': { name: 'rare' },
}

const scans: Record<string, Scan> = Object.fromEntries([
  ...Object.entries(taskFilters).map(([name, filter]) => [`tasks by ${name}`, scanTasks(big, filter)]),
  ...Object.entries(runFilters).flatMap(([name, filter]) => [
    [`runs by ${name}`, scanRuns([big], filter)],
    [`runs of all workspaces by ${name}`, scanRuns(workspaces, filter)],
  ]),
  ...Object.entries(cronJobFilters).map(([name, filter]) => [`cron jobs by ${name}`, scanCronJobs(big, filter)]),
])

describe('lists read along an index, and no more than they return or may scan', () => {
  it.each([
    ['with statistics', 1],
    ['with the statistics of fifty times as much', 50],
    ['with the statistics of a hundredth', 1 / 100],
  ])(
    '%s',
    async (_, times) => {
      await pretend(times)
      for (const [name, scan] of Object.entries(scans)) {
        const reads = await explain({ ...scan, maxScanned })
        for (const { rows, sorted, wholeTables } of reads) {
          expect({ name, wholeTables }).toEqual({ name, wholeTables: [] })
          expect(rows, name).toBeLessThan(maxRows)
          expect(sorted, name).toBeLessThan(maxRows)
        }
      }
    },
    120_000,
  )
})

it.each([
  [
    'failures are grouped along their index',
    (pool: Pool) => groupFailures(pool, big, { from: daysAgo(20) }, { runs: 50, groups: 50 }),
  ],
  ['names are searched', (pool: Pool) => searchNames(pool, big, 'com', { runs: 300, tasks: 100, cronJobs: 300 })],
])('%s, without reading a whole table', async (name, call) => {
  await pretend(50)
  for (const { rows, wholeTables } of await explainCalls(call)) {
    expect({ name, wholeTables }).toEqual({ name, wholeTables: [] })
    expect(rows, name).toBeLessThan(maxRows)
  }
})

// The planner multiplies the real number of pages of a table by the rows per page in the statistics.
async function pretend(times: number): Promise<void> {
  await pool.query(`UPDATE pg_class c SET reltuples = m.reltuples * ${times} FROM measured m WHERE m.oid = c.oid`)
}

type Plan = { 'Node Type': string; 'Actual Rows': number; 'Actual Loops': number; Plans?: Plan[] } & {
  [key: string]: unknown
}

/** Reads a page and returns the work of each of its statements. */
function explain(scan: Scan) {
  return explainCalls(pool => readBounded({ pool }, scan, undefined, 25))
}

/** Returns the work of each statement of some calls. */
async function explainCalls(call: (pool: Pool) => Promise<unknown>) {
  const reads: Array<{ rows: number; sorted: number; wholeTables: unknown[] }> = []
  const query = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    reads.push(workOf(rows[0]['QUERY PLAN'][0].Plan))
    return pool.query(text, values)
  }
  await call({ query } as unknown as Pool)
  return reads
}

function workOf(plan: Plan) {
  const nodes = nodesOf(plan)
  const rowsOf = (node: Plan) =>
    (node['Actual Rows'] + Number(node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  const total = (some: Plan[]) => some.reduce((sum, node) => sum + rowsOf(node), 0)
  return {
    rows: total(nodes.filter(node => 'Relation Name' in node)),
    sorted: total(nodes.filter(node => node['Node Type'] === 'Sort').flatMap(node => node.Plans ?? [])),
    wholeTables: nodes.filter(node => node['Node Type'] === 'Seq Scan').map(node => node['Relation Name']),
  }
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}
