import { NIL_UUID } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { readMonths } from '../src/retention/run-partitions.ts'
import { useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()
const query = async (text: string) => (await db.pool.query(text)).rows

it('uuid_v7 makes different ids of version 7 that contain their time', async () => {
  const instant = new Date('2026-11-21T10:20:30.456Z')
  const rows = await query(
    `SELECT id::text, uuid_v7_time(id) AS at, uuid_v7_floor('${instant.toISOString()}') <= id AS above
     FROM (SELECT uuid_v7('${instant.toISOString()}') AS id FROM generate_series(1, 50)) AS made`,
  )
  const time = instant.getTime().toString(16).padStart(12, '0')
  const version7 = new RegExp(`^${time.slice(0, 8)}-${time.slice(8)}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
  for (const row of rows) expect(row).toEqual({ id: expect.stringMatching(version7), at: instant, above: true })
  expect(new Set(rows.map(row => row.id))).toHaveLength(50)
})

it('uuid_v7_floor of the next millisecond is above every id of this one', async () => {
  const rows = await query(
    `SELECT bool_and(uuid_v7('2026-11-21T10:20:30.456Z') < uuid_v7_floor('2026-11-21T10:20:30.457Z')) AS below
     FROM generate_series(1, 50)`,
  )
  expect(rows).toEqual([{ below: true }])
})

it('uuid_v7_floor of a time before 1970 is below every id', async () => {
  const times = `unnest(ARRAY['1969-12-31 23:59:59.999Z', '1926-01-01Z', '0001-01-01Z', '1970-01-01Z']::timestamptz[])`
  const rows = await query(`SELECT DISTINCT uuid_v7_floor(at) AS id FROM ${times} AS at`)
  expect(rows).toEqual([{ id: NIL_UUID }])
})

it('create_run_partitions makes each month once, with concurrent callers', async () => {
  const partitions = `SELECT relname FROM pg_class WHERE relnamespace = 'run_partitions'::regnamespace AND relkind = 'r'`
  // Their names, because another month may begin meanwhile.
  const months = (await readMonths(db.pool, 6)).map(({ name }) => ({ relname: name }))
  await Promise.all([1, 2, 3].map(() => query('SELECT create_run_partitions(6)')))
  expect(await query(partitions)).toEqual(expect.arrayContaining(months))
  await query('SELECT create_run_partitions(6)')
})

it('a run is in the partition of its month in UTC, or else in the default partition', async () => {
  await query(
    `SET timezone = 'Pacific/Auckland';
     WITH edge AS (SELECT date_trunc('month', now(), 'UTC') + interval '31 days' AS day),
          next_month AS (SELECT date_trunc('month', day, 'UTC') AS starts FROM edge),
          instants AS (
            SELECT starts AS at FROM next_month
            UNION ALL SELECT starts - interval '1 millisecond' FROM next_month
            UNION ALL SELECT starts - interval '5 years' FROM next_month)
     INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
     SELECT uuid_v7(at), gen_random_uuid(), gen_random_uuid(), 1, 'task', 'success', at, at, at FROM instants`,
  )
  const rows = await query(
    `SELECT tableoid::regclass::text AS partition, to_char(started_at AT TIME ZONE 'UTC', 'YYYY_MM') AS month
     FROM runs ORDER BY started_at DESC`,
  )
  const months = rows.map(row => row.month)
  expect(new Set(months)).toHaveLength(3)
  expect(rows.map(row => row.partition)).toEqual([
    `run_partitions.runs_${months[0]}`,
    `run_partitions.runs_${months[1]}`,
    'run_partitions.runs_default',
  ])
})
