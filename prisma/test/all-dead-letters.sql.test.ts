import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import {
  countDeadLetters,
  countStatement,
  listDeadLetters,
  pageStatement,
} from '../src/dead-letters/all-dead-letters.ts'
import { inIndexOrder } from '../src/postgres/in-index-order.ts'
import { useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()
beforeAll(() => db.pool.query('ALTER TABLE tasks SET (autovacuum_enabled = off)'))
beforeEach(() => db.pool.query('TRUNCATE tasks CASCADE'))

/** Stores tasks of one workspace that were due in the last seconds, one each second. */
async function store(count: number, state: string, columns: Record<string, string> = {}, workspaceId = randomUUID()) {
  const names = ['state', ...Object.keys(columns)].join(', ')
  const values = [`'${state}'::task_state`, ...Object.values(columns)].join(', ')
  await db.pool.query(
    `WITH made AS (
       INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, ${names})
       SELECT uuid_v7(clock_timestamp()), $1, 'task', at, at, ${values}
       FROM (SELECT i, now() - i * interval '1 second' AS at FROM generate_series(1, $2) i) made RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, 'n', 'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
    [workspaceId, count],
  )
  return workspaceId
}

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

// Returns how a statement accesses the tasks, and how many of them it reads.
async function access(text: string, values: unknown[] = []): Promise<{ by: string[]; rows: number }> {
  const client = await db.pool.connect()
  try {
    await client.query(`BEGIN; ${inIndexOrder}`)
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter(node => node['Relation Name'] === 'tasks')
    return {
      by: [...new Set(nodes.map(node => node['Index Name'] ?? node['Node Type']))],
      rows: Math.max(...nodes.map(node => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))),
    }
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

it('reads a page and the count along an index beside ten thousand finished tasks, without and with statistics', async () => {
  const finished = 10_000
  await store(finished, 'success', { finished_at: 'at' })
  await store(finished / 5, 'dead', { finished_at: 'at', settled_at: 'at' })
  for (const state of ['pending', 'retrying', 'dead', 'processing'] as const)
    await store(50, state, {
      ...(state === 'dead' && { finished_at: 'at' }),
      ...(state === 'processing' && {
        lease_until: `now() + interval '1 minute'`,
        dispatcher_id: 'gen_random_uuid()',
      }),
    })
  for (const which of ['no statistics', 'statistics']) {
    if (which === 'statistics') await db.pool.query('ANALYZE tasks, task_requests')
    for (const read of [await access(pageStatement, [0, 10]), await access(countStatement)]) {
      expect([which, read.by]).toEqual([which, ['tasks_dead_letters_idx']])
      expect(read.rows, which).toBeLessThanOrEqual(50)
    }
  }
})

it('returns the dead letters of all workspaces, newest first', async () => {
  await store(20, 'dead', { finished_at: 'at', settled_at: 'at' })
  await store(20, 'dead', { finished_at: 'at' })
  await store(1, 'dead', { finished_at: `now() + interval '1 second'` }, '00000000-0000-7000-8000-000000000001')
  const newest = await store(
    1,
    'dead',
    { finished_at: `now() + interval '2 seconds'` },
    'ffffffff-0000-7000-8000-000000000001',
  )
  const letters = await listDeadLetters(db.pool, 0, 9)
  expect(letters).toHaveLength(10)
  expect(letters[0]?.workspaceId).toBe(newest)
  const ends = letters.map(({ finishedAt }) => finishedAt.getTime())
  expect(ends).toEqual(ends.toSorted((one, other) => other - one))
})

it('counts and lists at most ten thousand', async () => {
  await store(10_001, 'dead', { finished_at: 'at' })
  expect(await countDeadLetters(db.pool)).toBe(10_000)
  expect(await listDeadLetters(db.pool, 9_990, 10_009)).toHaveLength(10)
  expect(await listDeadLetters(db.pool, 10_000, 10_009)).toEqual([])
})
