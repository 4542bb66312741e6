import { foldRunChanges } from '@belfry/db/run-statistics/fold-run-changes'
import { fromId } from '@belfry/domain/id'
import { beforeAll, expect, it } from 'vitest'
import { anOperator } from './organization.ts'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const operatorAddress = 'figures@operators.example'
const api = useApi({ OPERATORS: operatorAddress }, { isAlone: true })
const hosts = 40
const queues = 7
const inTwoHours = `now() + interval '2 hours'`

let caller: Caller
let workspace: string
let session: Record<string, string>

const read = async (path: string): Promise<Json> => {
  const { status, body } = await api.send('GET', `/api/v1${path}`, undefined, { 'X-Api-Key': caller.apiKey })
  expect([status, path]).toEqual([200, path])
  return body
}

/** Rows of the workspace, `$1`. */
const sql = async (text: string, ...values: unknown[]): Promise<Json[]> =>
  (await api.db.query(text, [workspace, ...values])).rows

/** Reads again if a minute has begun meanwhile, with which the windows move. */
async function withinAMinute<T>(readAll: () => Promise<T>): Promise<T> {
  const minute = () => Math.floor(Date.now() / 60_000)
  for (;;) {
    const begun = minute()
    const found = await readAll()
    if (minute() === begun) return found
  }
}

beforeAll(async () => {
  caller = await api.signUp()
  workspace = fromId('ws', caller.workspaceId) ?? ''
  session = (await anOperator(api, operatorAddress)).session
  for (let batch = 0; batch < 25; batch += 1) {
    const tasks = Array.from({ length: 100 }, (_, i) => {
      const n = batch * 100 + i
      const url = `https://host-${n % hosts}.example.com/hook/${n}`
      return aTaskBody({ url, queue: n % 3 === 0 ? `queue-${n % queues}` : undefined, execute_at: dueIn(n) })
    })
    const { body } = await api.send('POST', '/api/v1/scheduler/tasks/batch', { tasks }, { 'X-Api-Key': caller.apiKey })
    expect(body.data.filter(({ error }: Json) => error)).toEqual([])
  }
  await sql(
    `UPDATE tasks SET execute_at = now() - interval '1 ms', due_at = now() - interval '1 ms' WHERE workspace_id = $1 AND due_at < ${inTwoHours}`,
  )
  await sql(
    `UPDATE tasks SET state = 'processing', lease_until = now() + interval '1 hour'
     WHERE id IN (SELECT t.id FROM tasks t JOIN task_requests r ON r.task_id = t.id
                  WHERE t.workspace_id = $1 AND r.queue IS NULL AND t.due_at <= now() ORDER BY t.id LIMIT 300)`,
  )
  // A day and an hour, each run of some task; the latest are dense, and a part of the failures is recent.
  await sql(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                       error_code, response_status)
     SELECT uuid_v7(at), $1, ids.all[1 + n % cardinality(ids.all)], 1 + n / cardinality(ids.all), 'task',
            (CASE WHEN n % 14 = 0 THEN 'failed' ELSE 'success' END)::run_status,
            at - (n % 50) * interval '1 ms', at, at + (n % 200) * interval '1 ms',
            CASE WHEN n % 14 = 0 THEN (ARRAY['timeout', 'http_status', 'http_status'])[1 + n % 3] END,
            CASE WHEN n % 14 = 0 THEN (ARRAY[NULL, 500, 429])[1 + n % 3] ELSE 200 END
     FROM generate_series(1, 100000) n, LATERAL (SELECT now() - n::float8 ^ 2 * interval '9 us' AS at) t,
          (SELECT array_agg(id ORDER BY id) AS all FROM tasks WHERE workspace_id = $1) ids`,
  )
  while ((await foldRunChanges(api.db, 1_000)) > 0);
}, 300_000)

const dueIn = (n: number) => new Date(Date.now() + (n % 5 === 0 ? 10_800_000 : 3_600_000)).toISOString()

const inPeriod = `SELECT count(*)::int AS total, (count(*) FILTER (WHERE status = 'failed'))::int AS failed FROM runs
                  WHERE workspace_id = $1 AND started_at >= $2 AND started_at < $3`

it.each([
  '/scheduler/overview?range=1h',
  '/scheduler/overview?range=24h',
  '/scheduler/overview?range=7d',
  '/scheduler/overview?range=30d',
  '/scheduler/runs/counts',
])('%s counts in each bucket what SQL does', async path => {
  const { runs, from, to, bucket_ms, buckets } = await read(path)
  const [whole] = await sql(inPeriod, from, to)
  expect(whole?.total).toBeGreaterThan(10_000)
  if (runs) expect(runs).toEqual(whole)
  const counted = await sql(
    `SELECT date_bin($4 * interval '1 ms', started_at, $2) AS at, count(*)::int AS total,
            (count(*) FILTER (WHERE status = 'failed'))::int AS failed
     FROM runs WHERE workspace_id = $1 AND started_at >= $2 AND started_at < $3 GROUP BY 1 ORDER BY 1`,
    ...[from, to, bucket_ms],
  )
  const shown = buckets.filter(({ total }: Json) => total > 0)
  expect(shown.map(({ at, total, failed }: Json) => ({ at: new Date(at), total, failed }))).toEqual(counted)
})

it('the hosts have the attempts, failures and durations of SQL in each window, and its waiting tasks', async () => {
  const inWindow = (unit: string, length: string) =>
    sql(
      `SELECT split_part(r.url, '/', 3) AS host, count(*)::int AS attempts,
              (count(*) FILTER (WHERE u.status = 'failed'))::int AS failed,
              round(avg(extract(epoch FROM u.finished_at - u.started_at) * 1000))::int AS duration_ms
       FROM runs u JOIN task_requests r ON r.task_id = u.task_id
       WHERE u.workspace_id = $1 AND u.started_at >= date_trunc($2, now()) - $3::interval GROUP BY 1`,
      ...[unit, length],
    )
  const [{ data }, five_minutes, hour, day] = await withinAMinute(() =>
    Promise.all([
      read('/scheduler/hosts'),
      inWindow('minute', '4 minutes'),
      inWindow('minute', '59 minutes'),
      inWindow('hour', '23 hours'),
    ]),
  )
  for (const [window, expected] of Object.entries({ five_minutes, hour, day })) {
    const shown = data.map(({ host, health }: Json) => ({ host, ...health[window] }))
    expect(shown.sort(byHost), window).toEqual(expected.sort(byHost))
    expect(expected).toHaveLength(hosts)
  }
  const waiting = await sql(
    `SELECT split_part(r.url, '/', 3) AS host, (count(*) FILTER (WHERE t.state = 'pending' AND t.due_at <= now()))::int AS waiting,
            (count(*) FILTER (WHERE t.state = 'processing'))::int AS in_flight
     FROM tasks t JOIN task_requests r ON r.task_id = t.id WHERE t.workspace_id = $1 GROUP BY 1`,
  )
  const shown = data.map(({ host, waiting, in_flight }: Json) => ({ host, waiting, in_flight }))
  expect(shown.sort(byHost)).toEqual(waiting.sort(byHost))
})

const byHost = (one: Json, other: Json) => (one.host < other.host ? -1 : 1)

it('the groups of failures are those of SQL, and above the limit of reading say that they are a part', async () => {
  const failures = await read('/scheduler/runs/failures')
  const groups = await sql(
    `SELECT split_part(r.url, '/', 3) AS host, u.error_code, u.response_status, count(*)::int AS count
     FROM runs u JOIN task_requests r ON r.task_id = u.task_id
     WHERE u.workspace_id = $1 AND u.status = 'failed' GROUP BY 1, 2, 3 ORDER BY 4 DESC`,
  )
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  expect([failures.counted, failures.is_partial]).toEqual([total, false])
  for (const { host, error_code, response_status, count } of failures.data)
    expect(groups).toContainEqual({ host, error_code, response_status, count })
  expect(failures.data).toHaveLength(Math.min(50, groups.length))

  await sql(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, error_code)
     SELECT uuid_v7(now()), $1, (SELECT id FROM tasks WHERE workspace_id = $1 LIMIT 1), 1000 + n, 'task', 'failed', now(), now(),
            now(), 'timeout' FROM generate_series(1, 10000) n`,
  )
  const more = await read('/scheduler/runs/failures')
  expect([more.counted, more.is_partial]).toEqual([10_000, true])
})

it('the queues have the waiting tasks of SQL', async () => {
  const { data } = await read('/scheduler/queues?limit=100')
  const expected = await sql(
    `SELECT r.queue AS name, (count(*) FILTER (WHERE t.due_at <= now()))::int AS waiting
     FROM tasks t JOIN task_requests r ON r.task_id = t.id
     WHERE t.workspace_id = $1 AND r.queue IS NOT NULL GROUP BY 1 ORDER BY 1`,
  )
  expect(expected).toHaveLength(queues)
  expect(data.map(({ name, waiting }: Json) => ({ name, waiting }))).toEqual(expected)
})

it('the overdue tasks and those of the next hours are as many as SQL counts', async () => {
  const upcoming = await read('/scheduler/upcoming')
  const [expected] = await sql(
    `SELECT (count(*) FILTER (WHERE due_at <= now()))::int AS overdue, (count(*) FILTER (WHERE due_at > now()))::int AS later
     FROM tasks WHERE workspace_id = $1 AND state = 'pending'`,
  )
  const later = upcoming.day.reduce((sum: number, { count }: Json) => sum + count, 0)
  expect([upcoming.overdue, later, upcoming.is_capped]).toEqual([expected?.overdue, expected?.later, false])
})

it('the console of the operator has the rate, the calls in flight and the due tasks of SQL', async () => {
  const path = `/api/v1/operator/organizations/${caller.organizationId}`
  const counted = () =>
    sql(
      `SELECT (SELECT count(*)::float8 / 5 FROM runs WHERE workspace_id = $1 AND started_at < date_trunc('minute', now())
                 AND started_at >= date_trunc('minute', now()) - interval '5 minutes') AS rate,
              (SELECT count(*)::int FROM tasks WHERE workspace_id = $1 AND state = 'processing') AS in_flight,
              (SELECT count(*)::int FROM tasks WHERE workspace_id = $1 AND state = 'pending' AND due_at <= now()) AS due`,
    )
  const [{ status, body }, [expected]] = await withinAMinute(() =>
    Promise.all([api.send('GET', path, undefined, session), counted()]),
  )
  expect(expected?.rate).toBeGreaterThan(100)
  expect([status, body.runs_per_minute, body.in_flight, body.due_tasks]).toEqual([
    ...[200, expected?.rate, expected?.in_flight, expected?.due],
  ])
})
