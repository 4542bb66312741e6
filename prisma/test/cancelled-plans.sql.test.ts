import { expect, it } from 'vitest'
import { pageOf } from '../src/bulk-operations/step-bulk-operation.ts'
import { cancelledStatement } from '../src/tasks/count-cancelled.ts'
import { countMatchingTasks } from '../src/tasks/task-filter.ts'
import { aWorkspace, useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()

type Plan = { 'Index Name'?: string; 'Actual Rows': number; 'Rows Removed by Filter'?: number; Plans?: Plan[] }

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

// Returns the index of a statement, and how many entries it reads.
async function accessOf(text: string, values: unknown[]): Promise<{ by: string | undefined; rows: number }> {
  const { rows } = await db.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  )
  const nodes = rows.flatMap(row => nodesOf(row['QUERY PLAN'][0].Plan))
  return {
    by: nodes.find(node => node['Index Name'] !== undefined)?.['Index Name'],
    rows: Math.max(...nodes.map(node => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))),
  }
}

it('reads few of a hundred thousand cancelled tasks, without and with statistics', async () => {
  const workspaceId = await aWorkspace(db.pool)
  await db.pool.query('ALTER TABLE tasks SET (autovacuum_enabled = off)')
  await db.pool.query(
    `INSERT INTO tasks (id, workspace_id, source, state, state_reason, execute_at, due_at, finished_at)
     SELECT uuid_v7(now() - i * interval '1 ms'), $1, 'task', 'cancelled',
            CASE WHEN i % 1000 = 0 THEN 'storage_quota' ELSE 'user' END, at, at, now()
     FROM generate_series(1, 100000) i, LATERAL (SELECT now() - i * interval '1 second' AS at) t`,
    [workspaceId],
  )
  const filter = { state_reason: ['storage_quota'] }
  const walk = { workspaceId, action: 'replay', createdAt: new Date(), filter } as const
  const pages = [
    pageOf({ ...walk, cursor: null, cursorAt: null }, 500),
    pageOf({ ...walk, cursor: workspaceId, cursorAt: new Date(Date.now() - 40_000_000) }, 500),
  ]
  for (const change of ['SELECT 1', 'ANALYZE tasks']) {
    await db.pool.query(change)
    for (const { text, values } of pages)
      expect(await accessOf(text, values)).toEqual({ by: 'tasks_unsettled_in_order_idx', rows: 500 })
    expect(await accessOf(cancelledStatement('storage_quota'), [workspaceId, 10_000])).toEqual({
      by: 'tasks_cancelled_for_limit_idx',
      rows: 100,
    })
  }
  expect(await countMatchingTasks(db.pool, workspaceId, `t.state = 'cancelled'`, filter)).toEqual({
    ...{ count: 100, isCapped: false },
  })
})
