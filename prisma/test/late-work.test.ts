import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { inIndexOrder, waitingStatement } from '../src/due-work.ts'
import { dueTasksOf, insertTasks, lateWorkspaces, type WaitingRow } from '../src/index.ts'
import { dueTasksStatement, lateWorkspacesStatement } from '../src/late-work.ts'
import { aTask, useDatabase } from './setup.ts'

const db = useDatabase()
const crowd = 50_000
const big = '00000000-0000-7000-8000-000000000001'
const lower = '00000000-0000-7000-8000-000000000000'
const upper = '00000000-0000-7000-8000-000000000002'
const other = '00000000-0000-7000-8000-000000000003'

describe('behind a crowd of due tasks of one workspace', () => {
  beforeAll(async () => {
    const tasks = [lower, upper].map(workspaceId => aTask({ workspaceId }))
    await insertTasks(db.pool, [...tasks, aTask({ workspaceId: other, executeAt: new Date(Date.now() + 3_600_000) })])
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '10 seconds' WHERE due_at <= now()`)
    // Older than everything else, so whoever goes by time alone meets them first.
    await db.pool.query(
      `WITH made AS (
         INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
         SELECT gen_random_uuid(), $1, 'event', at, at
         FROM (SELECT now() - interval '1 hour' + i % 100 * interval '1 second' AS at FROM generate_series(1, $2) i) s
         RETURNING id
       )
       INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       SELECT id, 'n', 'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
      [big, crowd],
    )
  })

  it('finds each workspace that has late work, from any of them on, and none that has not', async () => {
    const from = (startAt: string, graceMs = 3_000) => lateWorkspaces(db.pool, { graceMs, startAt })
    expect(await from(big)).toEqual([upper, lower, big])
    expect(await from(randomUUID().replace(/^./, 'f'))).toEqual([lower, big, upper])
    expect(await from(lower, 60_000)).toEqual([big])
  })

  it('gives the oldest due tasks of each workspace that is asked for', async () => {
    const queries = [upper, big, other].map(workspaceId => ({ workspaceId }))
    const due = await dueTasksOf(db.pool, queries, 3)
    expect(due.map(({ workspaceId }) => workspaceId)).toEqual([big, big, big, upper])
    const { rows } = await db.pool.query('SELECT min(due_at) AS first FROM tasks WHERE workspace_id = $1', [big])
    expect(due.slice(0, 3).map(({ dueAt }) => dueAt)).toEqual(Array(3).fill(rows[0].first))
    expect(due.at(-1)?.origin).toBe('https://example.com')
  })

  it('goes on behind a task, also among those of the same instant, until none is left', async () => {
    const seen = new Set<string>()
    let after: WaitingRow | undefined
    for (;;) {
      const page: WaitingRow[] = await dueTasksOf(db.pool, [{ workspaceId: big, ...(after ? { after } : {}) }], 7_000)
      for (const { id } of page) seen.add(id)
      after = page.at(-1)
      if (page.length < 7_000) break
    }
    expect(seen.size).toBe(crowd)
  })

  it.each(['with the statistics of before', 'with fresh statistics', 'with the statistics of a million'])(
    'reads by index and no further, %s',
    async when => {
      if (when === 'with fresh statistics') await db.pool.query('ANALYZE tasks, task_requests')
      // The planner multiplies the pages that a table really has by the rows on a page that the statistics tell of.
      const million = `UPDATE pg_class SET reltuples = 1000000 WHERE relname IN ('tasks', 'task_requests')`
      if (when === 'with the statistics of a million') await db.pool.query(million)
      const epoch = '1970-01-01Z'
      const statements = [
        { text: lateWorkspacesStatement, types: 'uuid, int, float8', values: `'${lower}', 5000, 0` },
        {
          text: dueTasksStatement,
          types: 'uuid[], timestamptz[], uuid[], int',
          values: `'{${big},${upper}}', '{${epoch},${epoch}}', '{${lower},${lower}}', 50`,
        },
        {
          text: waitingStatement,
          types: 'timestamptz, uuid, timestamptz',
          values: `'${epoch}', '${lower}', now()`,
          settings: inIndexOrder,
        },
      ]
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        for (const statement of statements) {
          const read = await rowsRead(mode, statement)
          expect(read.rows, `${mode} ${statement.text}`).toBeLessThan(3_500)
          expect(read.wholeTables, `${mode} ${statement.text}`).toEqual([])
        }
      }
    },
  )
})

type Plan = { [key: string]: unknown; Plans?: Plan[] }

/** Runs a statement and tells how many rows its plan has touched in the tables, also those that it threw away. */
async function rowsRead(mode: string, statement: { text: string; types: string; values: string; settings?: string }) {
  const client = await db.pool.connect()
  try {
    await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}; ${statement.settings ?? ''}`)
    await client.query(`PREPARE statement (${statement.types}) AS ${statement.text}`)
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE statement (${statement.values})`)
    const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter(node => 'Relation Name' in node)
    const touched = (node: Plan) =>
      (Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0)) * Number(node['Actual Loops'])
    return {
      rows: nodes.reduce((sum, node) => sum + touched(node), 0),
      wholeTables: nodes.filter(node => node['Node Type'] === 'Seq Scan'),
    }
  } finally {
    client.release(true)
  }
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}
