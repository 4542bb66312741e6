import { randomUUID } from 'node:crypto'
import { defaultTiers } from '@belfry/domain/tiers'
import { expect, it } from 'vitest'
import { markOldParts } from '../src/log-parts/delete-parts.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

it.each([
  ['past the retention', 'stored', null],
  ['of an interrupted upload', 'writing', null],
  ['whose restore is over', 'restored', '1970-01-01Z'],
])('frees the storage of a part %s once, with two schedulers', async (_which, state, hotUntil) => {
  const workspaceId = randomUUID()
  const part = `
    INSERT INTO log_parts (id, workspace_id, day, part, state, object_key, first_run_id, last_run_id, first_task_id, last_task_id,
                           succeeded, failed, object_bytes, checksum, storage_bytes, created_at, hot_until)
    SELECT $1, $1, at, 1, $2, 'a', run, run, run, run, 1, 0, 1, '', 100, at, $3::timestamptz
    FROM (SELECT now() - interval '900 days' AS at) times, uuid_v7(at) AS run`
  await db.pool.query(part, [workspaceId, state, hotUntil])
  const mark = () => markOldParts(db.pool, defaultTiers, [], 10)
  const other = await db.pool.connect()
  try {
    await other.query('BEGIN; SELECT FROM log_parts FOR UPDATE')
    const both = Promise.all([mark(), mark()])
    await db.pool.query('SELECT pg_sleep(0.3)')
    await other.query('COMMIT')
    await both
  } finally {
    other.release()
  }
  await mark()
  const text = 'SELECT sum(storage_bytes)::int AS bytes FROM usage_changes WHERE workspace_id = $1'
  expect((await db.pool.query(text, [workspaceId])).rows).toEqual([{ bytes: -100 }])
})
