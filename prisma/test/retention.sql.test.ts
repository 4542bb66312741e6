import { randomUUID } from 'node:crypto'
import { defaultTiers } from '@belfry/domain/tiers'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { beforeAll, describe, expect, it } from 'vitest'
import { deleteEmptyWorkspace, purgeWorkspace } from '../src/purge/purge-workspace.ts'
import { dropRunPartitions } from '../src/retention/drop-run-partitions.ts'
import { deleteOldRuns, deleteTasks, oldRunsStatement, remainingTasks } from '../src/retention/expire-log.ts'
import { type KeptLog, workspacesWithTasks } from '../src/retention/kept-logs.ts'
import { foldUsageChanges } from '../src/usage/fold-usage-changes.ts'
import { readUsage } from '../src/usage/read-usage.ts'
import { addMonth, addWorkspace, anOrganization, useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()
const size = propertyRuns(50_000, 15_000)

/** Stores finished tasks with a run each, evenly spread over days in the past, the oldest the whole number of days old. */
async function storeLog(workspaceId: string, count: number, days: number, state = 'success'): Promise<void> {
  const text = `
    WITH made AS (
      SELECT gen_random_uuid() AS id, uuid_v7(at) AS run_id, at
      FROM (SELECT now() - (i * $3::float8 / $2) * interval '1 day' AS at FROM generate_series(1, $2::int) i) times
    ),
    requests AS (
      INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
      SELECT id, 'A', 'https://example.com/', 'POST', '"12345678"', 0, 'fixed', 1000, 1000, 1000 FROM made
    ),
    stored AS (
      INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, finished_at)
      SELECT id, $1, 'task', $4::task_state, 1, at, at, run_id, CASE WHEN $4 IN ('success', 'dead') THEN at END FROM made
    )
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_body)
    SELECT run_id, $1, id, 1, 'task', 'success', at, at, at, '12345' FROM made`
  await db.pool.query(text, [workspaceId, count, days, state])
}

async function count(table: string, workspaceId: string): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM ${table} WHERE workspace_id = $1`
  return (await db.pool.query(text, [workspaceId])).rows[0].n
}

describe('the log of a workspace', () => {
  const old = { organizationId: '', workspaceId: '' }
  beforeAll(async () => {
    for (const monthsAgo of [1, 2, 3, 4]) await addMonth(db.pool, monthsAgo)
    Object.assign(old, await anOrganization(db.pool))
    await storeLog(old.workspaceId, size, 100)
    await storeLog(await addWorkspace(db.pool, old.organizationId), size, 100)
    const bytes = 2 * size * 15
    await db.pool.query('INSERT INTO storage (organization_id, bytes) VALUES ($1, $2)', [old.organizationId, bytes])
    await db.pool.query('ANALYZE')
  })

  it.each([
    ['runs', oldRunsStatement, ", '00000000-0000-0000-0000-000000000000'"],
    ['cancelled tasks', remainingTasks.cancelled.text, ''],
    ['dead tasks without a run', remainingTasks.dead_without_run.text, ''],
    ['restored tasks', remainingTasks.restored.text, ''],
  ])('is read by key when old %s are deleted, in each partition', async (_what, text, more) => {
    const client = await db.pool.connect()
    try {
      // The statements are prepared, so the generic plan is the relevant one.
      await client.query('SET plan_cache_mode = force_generic_plan')
      await client.query(`PREPARE statement (uuid, int, int${more && ', uuid'}) AS ${text}`)
      const { rows } = await client.query(`EXPLAIN EXECUTE statement ('${old.workspaceId}', 7, 1000${more})`)
      const lines: string[] = rows.map(row => row['QUERY PLAN'])
      expect(lines.filter(line => /Seq Scan|Bitmap/.test(line))).toEqual([])
      const reads = lines.flatMap((line, i) => (/Index.* Scan/.test(line) ? [`${line} ${lines[i + 1]}`] : []))
      expect(reads.length).toBeGreaterThan(1)
      expect(reads.filter(read => !read.includes('Index Cond'))).toEqual([])
    } finally {
      client.release(true)
    }
  })

  it('loses runs older than its days, in batches that add up, with their tasks and their storage', async () => {
    const remove = async (limit: number) => (await deleteOldRuns(db.pool, old.workspaceId, 7, limit)).deleted
    const rounds = await Promise.all([remove(1000), remove(1000)])
    const batches: number[] = []
    do batches.push(await remove(10_000))
    while (batches.at(-1) === 10_000)
    const left = (size * 7) / 100
    expect([...rounds, ...batches].reduce((sum, n) => sum + n)).toBeGreaterThan(size - left - 10)
    expect(await count('runs', old.workspaceId)).toBeGreaterThan(left - 10)
    expect(await count('tasks', old.workspaceId)).toBe(await count('runs', old.workspaceId))
    while ((await foldUsageChanges(db.pool, 1000)) > 0);
    const kept = size + (await count('runs', old.workspaceId))
    expect((await readUsage(db.pool, old.organizationId))?.storageBytes).toBe(kept * 15)
    const orphans = 'SELECT FROM task_requests r WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = r.task_id)'
    expect((await db.pool.query(orphans)).rows).toEqual([])
  })

  it('is kept whole for a hundred years', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    await storeLog(workspaceId, 3, 20)
    expect(await deleteOldRuns(db.pool, workspaceId, 36_500, 100)).toMatchObject({ examined: 0, deleted: 0 })
  })

  it('keeps an unfinished task with an old run', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    await storeLog(workspaceId, 10, 20, 'retrying')
    expect((await deleteOldRuns(db.pool, workspaceId, 7, 100)).deleted).toBe(7)
    expect(await count('tasks', workspaceId)).toBe(10)
  })

  it('keeps dead letters with their runs until they are settled or a year old', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    await storeLog(workspaceId, 1_500, 400, 'dead') // 27 of them within the 7 days, 132 older than 365
    await storeLog(workspaceId, 100, 20)
    const expire = async () => {
      const sum = { deleted: 0, deadLetters: 0 }
      let page = { examined: 0, deleted: 0, deadLetters: 0, last: null as string | null }
      do {
        page = await deleteOldRuns(db.pool, workspaceId, 7, 1000, page.last)
        sum.deleted += page.deleted
        sum.deadLetters += page.deadLetters
      } while (page.examined === 1000)
      return sum
    }
    expect(await expire()).toEqual({ deleted: 132 + 66, deadLetters: 132 })
    expect(await expire()).toEqual({ deleted: 0, deadLetters: 0 })
    expect(await count('tasks', workspaceId)).toBe(await count('runs', workspaceId))
    await db.pool.query(`UPDATE tasks SET settled_at = now() WHERE workspace_id = $1 AND state = 'dead'`, [workspaceId])
    expect((await expire()).deadLetters).toBe(0)
    const { rows } = await db.pool.query(
      `SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1 AND finished_at < now() - interval '7 days'`,
      [workspaceId],
    )
    expect(rows).toEqual([{ n: 0 }])
  })

  it('loses dead tasks whose latest runs went while they waited: settled ones, and others after a year', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    await storeLog(workspaceId, 4, 400, 'retrying') // 400, 300, 200 and 100 days old
    expect((await deleteOldRuns(db.pool, workspaceId, 7, 100)).deleted).toBe(4)
    const end = `
      WITH requests AS (
        UPDATE task_requests r SET task_id = t.run_id FROM tasks t WHERE t.id = r.task_id AND t.workspace_id = $1
      )
      UPDATE tasks SET id = run_id, state = 'dead', finished_at = due_at + interval '1 day',
                       settled_at = CASE WHEN due_at > now() - interval '250 days' THEN now() END
      WHERE workspace_id = $1`
    await db.pool.query(end, [workspaceId])
    expect((await deleteOldRuns(db.pool, workspaceId, 7, 100)).deleted).toBe(0)
    expect(await deleteTasks(db.pool, 'dead_without_run', workspaceId, 7, 100)).toBe(3)
    expect(await count('tasks', workspaceId)).toBe(1)
  })

  it('leaves a run to the next round while another caller holds its task', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    await storeLog(workspaceId, 10, 100)
    const other = await db.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT FROM tasks WHERE workspace_id = $1 ORDER BY id LIMIT 1 FOR UPDATE', [workspaceId])
      expect(await deleteOldRuns(db.pool, workspaceId, 7, 100)).toMatchObject({ examined: 10, deleted: 9 })
    } finally {
      await other.query('ROLLBACK')
      other.release()
    }
    expect((await deleteOldRuns(db.pool, workspaceId, 7, 100)).deleted).toBe(1)
    expect(await count('tasks', workspaceId)).toBe(0)
  })

  it('loses cancelled tasks by the time of their cancellation, not of their creation', async () => {
    const { workspaceId } = await anOrganization(db.pool)
    const text = `
      INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
      SELECT uuid_v7(now() - interval '30 days'), $1, 'task', 'cancelled', now(), now(), now() - i * interval '1 day'
      FROM generate_series(0, 19) i`
    await db.pool.query(text, [workspaceId])
    expect(await deleteTasks(db.pool, 'cancelled', workspaceId, 7, 10)).toBe(10)
    expect(await deleteTasks(db.pool, 'cancelled', workspaceId, 7, 10)).toBe(3)
    expect(await count('tasks', workspaceId)).toBe(7)
  })

  it('is kept for the days of its tier; that of a purged workspace for the shortest ones', async () => {
    const startup = await anOrganization(db.pool, 'startup')
    const deleted = randomUUID()
    for (const workspaceId of [startup.workspaceId, deleted]) await storeLog(workspaceId, 3, 1)
    const pages: KeptLog[] = []
    let page: KeptLog[]
    do {
      page = await workspacesWithTasks(db.pool, defaultTiers, pages.at(-1)?.workspaceId ?? null, 2)
      pages.push(...page)
    } while (page.length === 2)
    const { rows } = await db.pool.query('SELECT DISTINCT workspace_id AS id FROM tasks ORDER BY 1')
    expect(pages.map(({ workspaceId }) => workspaceId)).toEqual(rows.map(({ id }) => id))
    const days = new Map(pages.map(page => [page.workspaceId, page.days]))
    expect([days.get(old.workspaceId), days.get(startup.workspaceId), days.get(deleted)]).toEqual([7, 30, 7])
  })
})

it('the purge of a deleted workspace and the expiry of its log cannot deadlock', async () => {
  const { workspaceId } = await anOrganization(db.pool)
  await storeLog(workspaceId, 12_000, 100)
  const text = `UPDATE workspaces SET deleted_at = now(), wound_down_at = now() WHERE id = $1`
  await db.pool.query(text, [workspaceId])
  const isThere = async () =>
    (await db.pool.query('SELECT FROM workspaces WHERE id = $1', [workspaceId])).rowCount === 1
  const expire = async () => {
    while (await isThere()) await deleteOldRuns(db.pool, workspaceId, 7, 500)
  }
  const purge = async () => {
    while (await isThere()) {
      await purgeWorkspace(db.pool, workspaceId, 500)
      await foldUsageChanges(db.pool, 500)
      await deleteEmptyWorkspace(db.pool, workspaceId)
    }
  }
  await Promise.all([expire(), expire(), purge()])
  const rows = ['tasks', 'runs', 'usage_changes'].map(table => count(table, workspaceId))
  expect(await Promise.all(rows)).toEqual([0, 0, 0])
})

it('empty months that no tier keeps are dropped, by one of several callers', async () => {
  const [empty, full] = [await addMonth(db.pool, 20), await addMonth(db.pool, 19)]
  const { workspaceId } = await anOrganization(db.pool, 'unicorn')
  await storeLog(workspaceId, 1, 19 * 30.44 - 15 + new Date().getUTCDate())
  const { rows } = await db.pool.query(`SELECT FROM run_partitions.${full}`)
  expect(rows).toHaveLength(1)
  const drop = async () => (await Promise.all([1, 2].map(() => dropRunPartitions(db.pool, 365)))).flat()
  // A call leaves a partition for a later one when a statement takes 100 ms.
  await expect.poll(drop).toEqual([empty])
  expect((await deleteOldRuns(db.pool, workspaceId, 365, 10)).deleted).toBe(1)
  await expect.poll(drop).toEqual([full])
  expect(await dropRunPartitions(db.pool, 365)).toEqual([])
})
