import { randomUUID } from 'node:crypto'
import { defaultTiers } from '@belfry/domain/tiers'
import { expect, it } from 'vitest'
import type { InputColumn } from '../src/postgres/statement-input.ts'
import { claimInput, claimStatement } from '../src/tasks/claim-tasks.ts'
import { unclaimedInput, unclaimedStatement } from '../src/tasks/explain-claims.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { locateInput, locateStatement } from '../src/tasks/locate-tasks.ts'
import { recordInput, recordStatement } from '../src/tasks/record-attempts.ts'
import { undoInput, undoStatement } from '../src/tasks/undo-claims.ts'
import { tierRows } from '../src/usage/count-executions.ts'
import { aTask, useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()
const rows = 20_000
const batch = 64

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'TID Cond'?: string
  Plans?: Plan[]
}

const statements = {
  claim: () => {
    const params = [...tierRows(defaultTiers, claimInput.length + 1).params, randomUUID(), false, false]
    return withInput(claimStatement, claimInput, ['text[], bigint[], bigint[]', 'uuid', 'boolean', 'boolean'], params)
  },
  locate: () => withInput(locateStatement, locateInput),
  unclaimed: () => withInput(unclaimedStatement, unclaimedInput),
  record: () => withInput(recordStatement, recordInput),
  undo: () => withInput(undoStatement, undoInput),
}

function withInput<Item>(
  text: string,
  columns: ReadonlyArray<InputColumn<Item>>,
  moreTypes: string[] = [],
  moreParams: unknown[] = [],
) {
  const values = columns.map(([, type]) => Array.from({ length: batch }, () => (type === 'uuid' ? randomUUID() : null)))
  return { text, types: [...columns.map(([, type]) => `${type}[]`), ...moreTypes], params: [...values, ...moreParams] }
}

// Returns how a statement accesses the growing tables, in its custom plan and in its generic plan.
async function accesses(name: keyof typeof statements): Promise<string[]> {
  const { text, params } = statements[name]()
  const custom = await db.pool.query(`EXPLAIN (FORMAT JSON) ${text}`, params)
  return [...accessesOf(custom.rows[0]), ...(await genericAccesses(name))]
}

async function genericAccesses(name: keyof typeof statements): Promise<string[]> {
  const { text, types, params } = statements[name]()
  const client = await db.pool.connect()
  try {
    await client.query('SET plan_cache_mode = force_generic_plan')
    await client.query(`PREPARE statement (${types.join(', ')}) AS ${text}`)
    const nulls = params.map(() => 'NULL').join(', ')
    const generic = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE statement (${nulls})`)
    return accessesOf(generic.rows[0])
  } finally {
    client.release(true)
  }
}

const accessesOf = (row: { 'QUERY PLAN': [{ Plan: Plan }] }) =>
  nodesOf(row['QUERY PLAN'][0].Plan).flatMap(describeAccess)

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

function describeAccess(node: Plan): string[] {
  if (
    !/^(tasks|task_requests|workspaces|organizations|usage|execution_blocks|storage)$/.test(
      node['Relation Name'] ?? '',
    ) ||
    node['Node Type'] === 'ModifyTable'
  )
    return []
  if (node['TID Cond']) return ['by place']
  return [`${node['Node Type']} ${node['Index Name']} ${node['Index Cond'] ? 'by key' : 'whole'}`]
}

// The last access is for occurrences only: the unfinished tasks of the same cron job. The TID scan returns to the rows that
// the claim has locked.
const byKey = [
  'by place',
  'Index Scan execution_blocks_pkey by key',
  'Index Scan organizations_pkey by key',
  'Index Scan storage_pkey by key',
  'Index Scan workspaces_pkey by key',
  'Index Scan task_requests_pkey by key',
  'Index Scan tasks_pkey by key',
  'Index Scan tasks_unfinished_of_cron_job_idx by key',
]

async function expectAccessByKey(accessesOfStatement: typeof accesses, when: string): Promise<void> {
  for (const name of ['claim', 'unclaimed', 'locate', 'record', 'undo'] as const) {
    const used = [...new Set(await accessesOfStatement(name))].sort()
    const of = `${name} when ${when}`
    expect(byKey, of).toEqual(expect.arrayContaining(used))
    expect(used, of).toContain('Index Scan tasks_pkey by key')
    if (name === 'claim') expect(used, of).toContain('Index Scan execution_blocks_pkey by key')
  }
}

async function storeRows(): Promise<void> {
  for (let i = 0; i < rows; i += 1000)
    await insertTasks(
      db.pool,
      Array.from({ length: 1000 }, () => aTask()),
    )
  await db.pool.query(`
    WITH o AS (
      INSERT INTO organizations (id, name, slug, tier) SELECT gen_random_uuid(), 'A', i, 'free'
      FROM generate_series(1, 2000) i RETURNING id
    ), w AS (INSERT INTO workspaces (id, organization_id, name) SELECT gen_random_uuid(), id, 'A' FROM o), b AS (
      INSERT INTO execution_blocks (month, organization_id, dispatcher_id, unspent)
      SELECT utc_month(now()), id, gen_random_uuid(), 1 FROM o, generate_series(1, 8)
    )
    INSERT INTO storage (organization_id, bytes) SELECT id, 0 FROM o`)
}

// One test, because each state begins with the rows and the statistics of the one before.
it('the hot statements of a dispatcher reach tasks by their key only, from new tables to a million tasks', async () => {
  // A dispatcher plans a statement once, and keeps the plan until the tables are analyzed.
  await expectAccessByKey(genericAccesses, 'the tables are new')
  await db.pool.query('ALTER TABLE tasks SET (autovacuum_enabled = off)')
  await storeRows()
  for (const [when, change, analyze] of [
    ['all are pending', 'SELECT 1', 'ANALYZE'],
    ['all are finished and the statistics say that all are pending', finishAll(), 'SELECT 1'],
    ['all are finished', 'SELECT 1', 'ANALYZE'],
    [
      'one of many is pending',
      `UPDATE tasks SET state = 'pending', finished_at = NULL WHERE id = (SELECT min(id::text)::uuid FROM tasks)`,
      'ANALYZE',
    ],
    ['there are a million by the statistics, all of them due', pretendMillion(), 'SELECT 1'],
  ] as const) {
    await db.pool.query(change)
    await db.pool.query(analyze)
    await expectAccessByKey(accesses, when)
  }
})

// The planner multiplies the real number of pages of a table by the rows per page in the statistics.
function pretendMillion(): string {
  return `
    UPDATE tasks SET state = 'pending', finished_at = NULL, due_at = now() - interval '1 ms';
    ANALYZE;
    UPDATE pg_class SET reltuples = ${1_000_000} WHERE relname IN ('tasks', 'task_requests')`
}

function finishAll(): string {
  return `UPDATE tasks SET state = 'success', run_id = '${randomUUID()}', attempts = 1, finished_at = now()`
}
