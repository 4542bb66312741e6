import { NIL_UUID, newUuid } from '@belfry/domain/id'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { beforeAll, describe, expect, it } from 'vitest'
import { inIndexOrder } from '../src/postgres/in-index-order.ts'
import { type WaitingRow, waitingStatement } from '../src/tasks/due-work.ts'
import {
  dueTasksOf,
  dueTasksStatement,
  lateHeadStatement,
  lateWorkspacesStatement,
  openLateSearch,
} from '../src/tasks/late-work.ts'
import { dueGroupsOfStatement, dueGroupsStatement } from '../src/tasks/startable-tasks.ts'
import { useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()
const maxWorkspaces = 5_000
const nextYear = '365 days'
const dayMs = 86_400_000

// The ids of workspaces that were created over seventy days.
const workspaces = Array.from({ length: maxWorkspaces + 2 }, (_, i) =>
  newUuid(Date.now() - 70 * dayMs + (i * 70 * dayMs) / maxWorkspaces),
)
const at = (index: number) => workspaces.at(index) ?? ''
const [oldest, middle, newest] = [at(0), at(2_500), at(-1)]

/** Stores tasks of each workspace that are due after an interval from now. */
async function store(ids: string[], dueIn: string, each = 1): Promise<void> {
  await db.pool.query(
    `WITH made AS (
       INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
       SELECT uuid_v7(clock_timestamp()), w, 'event', at, at
       FROM unnest($1::uuid[]) w CROSS JOIN generate_series(1, $3) i,
            LATERAL (SELECT now() + $2::interval + i % 100 * interval '0.1 seconds' AS at) s
       RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, 'n', 'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
    [ids, dueIn, each],
  )
}

const finishLate = (workspace: string) =>
  db.pool.query(
    `UPDATE tasks SET state = 'success', finished_at = now()
     WHERE workspace_id = $1 AND state = 'pending' AND due_at < now()`,
    [workspace],
  )

async function search(graceMs = 3_000, rounds = 1): Promise<string[]> {
  const find = openLateSearch(db.pool)
  const found = new Set<string>()
  for (let i = 0; i < rounds; i++) for (const id of (await find(graceMs)).keys()) found.add(id)
  return [...found].sort()
}

beforeAll(async () => {
  const organization = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', 'a', 'free')`
  await db.pool.query(organization, [oldest])
  const insert = `INSERT INTO workspaces (id, organization_id, name) SELECT w, $2, 'A' FROM unnest($1::uuid[]) w`
  await db.pool.query(insert, [workspaces, oldest])
})

/** Stores the tasks of each workspace in place of all tasks. */
async function startOver(): Promise<void> {
  await db.pool.query('TRUNCATE tasks CASCADE')
  await store(workspaces, nextYear)
}

describe('with 5,002 workspaces whose tasks are due next year', () => {
  beforeAll(async () => {
    await startOver()
    await db.pool.query('ANALYZE tasks, task_requests')
  })

  it.each([
    ['oldest', oldest],
    ['middle', middle],
    ['newest', newest],
  ])('finds the only late task, of the %s workspace, in the first round', async (_which, workspace) => {
    await store([workspace], '-10 seconds')
    expect(await search()).toEqual([workspace])
    expect(await search(60_000)).toEqual([])
    await finishLate(workspace)
  })

  it('finds the late tasks of the head, and one more of another workspace', async () => {
    await store([middle], '-20 seconds', 999)
    await store([newest], '-10 seconds')
    expect(await search()).toEqual([middle, newest])
    await store([oldest], '-5 seconds')
    expect(await search(3_000, 2)).toEqual([oldest, middle, newest].sort())
    for (const workspace of [oldest, middle, newest]) await finishLate(workspace)
  })
})

describe('behind a backlog of one workspace that is larger than the head', () => {
  const crowd = propertyRuns(50_000, 15_000)
  const big = middle
  beforeAll(async () => {
    await startOver()
    await store([big], '-30 seconds', crowd)
    await db.pool.query('ANALYZE tasks, task_requests')
  })

  it.each([
    ['oldest', oldest, 1],
    ['second but newest', at(-2), 2],
    ['newest', newest, 2],
  ])('finds the late task of the %s workspace within W / 5,000 rounds', async (_which, workspace, rounds) => {
    await store([workspace], '-10 seconds')
    expect(await search(3_000, rounds)).toEqual([big, workspace].sort())
    await finishLate(workspace)
  })

  it('continues after the workspace at which the last round ended, and starts over at the end', async () => {
    const find = openLateSearch(db.pool)
    await store([oldest, newest], '-10 seconds')
    expect([...(await find(3_000)).keys()].sort()).toEqual([oldest, big].sort())
    // The second round continues with the first workspaces.
    expect([...(await find(3_000)).keys()].sort()).toEqual([oldest, big, newest].sort())
    await finishLate(oldest)
    await finishLate(newest)
  })

  it('returns the oldest late task of each workspace', async () => {
    const { rows } = await db.pool.query<{ id: string }>(
      `SELECT id FROM tasks WHERE workspace_id = $1 AND state = 'pending' ORDER BY due_at, id LIMIT 1`,
      [big],
    )
    expect((await openLateSearch(db.pool)(3_000)).get(big)?.id).toBe(rows[0]?.id)
  })

  it('returns the oldest due tasks of each requested workspace', async () => {
    await store([newest], '-10 seconds')
    const queries = [newest, big, at(7)].map(workspaceId => ({ workspaceId }))
    const due = await dueTasksOf(db.pool, queries, 3)
    expect(due.map(({ workspaceId }) => workspaceId)).toEqual([big, big, big, newest])
    await finishLate(newest)
    const { rows } = await db.pool.query('SELECT min(due_at) AS first FROM tasks WHERE workspace_id = $1', [big])
    expect(due.slice(0, 3).map(({ dueAt }) => dueAt)).toEqual(Array(3).fill(rows[0].first))
    expect(due.at(-1)?.origin).toBe('https://example.com')
  })

  async function readAll(share?: { index: number; of: number }): Promise<Set<string>> {
    const seen = new Set<string>()
    let after: WaitingRow | undefined
    for (;;) {
      const query = { workspaceId: big, ...(after ? { after } : {}), ...(share ? { share } : {}) }
      const page = await dueTasksOf(db.pool, [query], 7_000)
      for (const { id } of page) seen.add(id)
      after = page.at(-1)
      if (page.length < 7_000) return seen
    }
  }

  it('continues after a task, also among tasks with the same due time, until none is left', async () => {
    expect((await readAll()).size).toBe(crowd)
  })

  it.each([2, 3, 7])(
    'divides them over %i dispatchers: each task belongs to one, and the shares are even',
    async of => {
      const shares: Array<Set<string>> = []
      for (let index = 0; index < of; index++) shares.push(await readAll({ index, of }))
      const sizes = shares.map(({ size }) => size)
      expect(new Set(shares.flatMap(share => [...share])).size).toBe(crowd)
      expect(sizes.reduce((sum, size) => sum + size)).toBe(crowd)
      expect(Math.max(...sizes)).toBeLessThan((crowd / of) * 1.1)
    },
  )

  it('reads by index and no further, with the statistics of before, with fresh ones, and with those of a million', async () => {
    for (const when of ['the statistics of before', 'fresh statistics', 'the statistics of a million']) {
      await store([oldest], nextYear, 10_000) // it must not read tasks that are due later either
      if (when === 'fresh statistics') await db.pool.query('ANALYZE tasks, task_requests')
      // The planner multiplies the real number of pages of a table by the rows per page in the statistics.
      const million = `UPDATE pg_class SET reltuples = 1000000 WHERE relname IN ('tasks', 'task_requests')`
      if (when === 'the statistics of a million') await db.pool.query(million)
      const epoch = '1970-01-01Z'
      const statements = [
        { text: lateHeadStatement, types: 'float8', values: '0', rows: 1_000, bound: 'due_at' },
        {
          text: lateWorkspacesStatement,
          types: 'uuid, int, float8',
          values: `'${NIL_UUID}', 100, 0`,
          rows: 210,
          bound: 'ROW(workspace_id, due_at) >=',
        },
        {
          text: dueTasksStatement,
          types: 'uuid[], timestamptz[], uuid[], int, int[], int[]',
          values: `'{${big},${oldest}}', '{${epoch},${epoch}}', '{${NIL_UUID},${NIL_UUID}}', 50, '{0,0}', '{1,1}'`,
          rows: 210,
          bound: 'ROW(workspace_id, due_at, id) >',
        },
        // The full head, each task with its request, then the 5,002 workspaces three times: twice for suspensions.
        { text: dueGroupsStatement, types: 'int, int', values: '10000, 100', rows: 35_300, bound: 'due_at' },
        {
          text: dueGroupsOfStatement,
          types: 'int, uuid',
          values: `700, '${big}'`,
          rows: 11_500,
          bound: 'ROW(workspace_id, due_at) >=',
        },
        {
          text: waitingStatement,
          types: 'timestamptz, uuid, timestamptz, int, int',
          values: `'${epoch}', '${NIL_UUID}', now(), 0, 1`,
          rows: 3_500,
          bound: 'ROW(due_at, id) >',
        },
      ]
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        for (const statement of statements) {
          const read = await rowsRead(mode, statement)
          const name = `${when} ${mode} ${statement.text}`
          expect(read.rows, name).toBeLessThanOrEqual(statement.rows)
          expect(read.wholeTables, name).toEqual([])
          expect(read.conditions.join(), name).toContain(statement.bound)
        }
      }
    }
  })
})

type Plan = { [key: string]: unknown; Plans?: Plan[] }

/** Runs a statement and returns how many rows of the tables it has read, including those that it has discarded. */
async function rowsRead(mode: string, statement: { text: string; types: string; values: string }) {
  const client = await db.pool.connect()
  try {
    await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}; ${inIndexOrder}`)
    await client.query(`PREPARE statement (${statement.types}) AS ${statement.text}`)
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE statement (${statement.values})`)
    const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter(
      node => 'Relation Name' in node && node['Relation Name'] !== 'waiting_floor',
    )
    const touched = (node: Plan) =>
      (Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0)) * Number(node['Actual Loops'])
    return {
      rows: nodes.reduce((sum, node) => sum + touched(node), 0),
      wholeTables: nodes.filter(node => node['Node Type'] === 'Seq Scan'),
      conditions: nodes.map(node => String(node['Index Cond'] ?? '')),
    }
  } finally {
    client.release(true)
  }
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}
