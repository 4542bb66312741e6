import { readdir } from 'node:fs/promises'
import { partsOfDay, restorePart } from '@belfry/db/log-parts/restore-part'
import { maxPart, readNextPart } from '@belfry/db/log-parts/store-part'
import { deleteEmptyWorkspace, purgeWorkspace } from '@belfry/db/purge/purge-workspace'
import { foldUsageChanges } from '@belfry/db/usage/fold-usage-changes'
import { newUuid, toId } from '@belfry/domain/id'
import { type ObjectStorage, readLines } from '@belfry/object-storage'
import { findObjectStore } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { expireLog } from '../src/expire-log.ts'
import { expireLogParts, storeLog } from '../src/store-log.ts'
import { openTestContext, storeWorkspace } from './setup.ts'
import { useLogObjects } from './use-log-objects.ts'

const never = new AbortController().signal
const hotDays = 2

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('the log in object storage', () => {
  const log = useLogObjects()
  let ctx: Context
  let workspaceId: string

  beforeEach(async () => {
    ctx = { ...(await openTestContext()), logStorage: { objects: log.objects, hotDays } }
    workspaceId = await storeWorkspace(ctx)
    await ctx.pool.query(`UPDATE organizations SET tier = 'unicorn'`)
  })
  afterEach(() => ctx.close())

  it('moves the runs of full days with their tasks, counts their storage on, and restores a day', async () => {
    await storeRuns({ count: 5, daysAgo: 4 })
    await storeRuns({ count: 3, daysAgo: hotDays + 1 })
    await storeRuns({ count: 2, daysAgo: hotDays })
    const storage = await countStorage()
    expect(storage).toBeGreaterThan(0)
    const statistics = await sumOfRunChanges()
    const before = await everyRow()
    expect(await storeLog(ctx, never)).toBe(8)
    expect(await counts()).toEqual({ runs: 2, tasks: 2, task_requests: 2, task_labels: 2, log_parts: 2 })
    const [first, second] = await parts()
    expect([first?.state, first?.succeeded, first?.failed, second?.succeeded]).toEqual(['stored', 4, 1, 3])
    expect(await countStorage()).toBe(storage)
    expect(await storeLog(ctx, never)).toBe(0)

    // A second restore changes nothing.
    for (const restored of [5, 0]) expect(await restore(first?.day ?? '', 7)).toBe(restored)
    expect(await restore(second?.day ?? '', 7)).toBe(3)
    expect(await everyRow()).toEqual(before)
    expect([await countStorage(), await sumOfRunChanges()]).toEqual([storage, statistics])
    expect(await storeLog(ctx, never)).toBe(0) // restored days stay

    await ctx.pool.query(
      `UPDATE log_parts SET hot_until = now() - interval '1 second', created_at = now() - interval '1 day'`,
    )
    expect(await expireLogParts(ctx, never)).toBe(2)
    expect(await keys()).toEqual([])
    expect(await storeLog(ctx, never)).toBe(8)
    expect(await countStorage()).toBe(storage)
  })

  it('leaves the runs of dead letters and of unfinished tasks, and moves them once they are settled', async () => {
    const [dead = '', waiting = '', done = ''] = await storeRuns({ count: 3, daysAgo: 5 })
    await setTask(dead, `state = 'dead'`)
    await setTask(waiting, `state = 'retrying', finished_at = NULL`)
    expect(await storeLog(ctx, never)).toBe(1)
    expect(await ids('tasks')).toEqual([dead, waiting].sort())
    expect(await ids('tasks')).not.toContain(done)
    await setTask(dead, `settled_at = now()`)
    expect(await storeLog(ctx, never)).toBe(0) // too few for another part of the day: they stay until the retention
    await storeRuns({ count: 99, daysAgo: 5 })
    expect(await storeLog(ctx, never)).toBe(100)
    expect((await parts()).map(({ part }) => part)).toEqual([1, 2])
  })

  it('keeps a task while an earlier run of it stays, because lists need its request', async () => {
    await storeRuns({ count: 3, daysAgo: 6 })
    expect(await storeLog(ctx, never)).toBe(3)
    // The first attempt was left behind: when its day moved, its task was waiting for the second one.
    const [task = '', other = ''] = await storeRuns({ count: 2, daysAgo: 5 })
    await storeEarlierRun(task, 6)
    await setTask(task, 'attempts = 2')
    expect(await storeLog(ctx, never)).toBe(1)
    expect(await ids('tasks')).toEqual([task])
    expect(await counts()).toMatchObject({ runs: 2, task_requests: 1 })
    await storeRuns({ count: 99, daysAgo: 6 })
    await storeRuns({ count: 99, daysAgo: 5 })
    expect(await storeLog(ctx, never)).toBe(200)
    expect(await counts()).toMatchObject({ runs: 0, tasks: 0 })
    expect(await ids('tasks')).not.toContain(other)
  })

  it('keeps a task while the search has passed over an earlier run of the same day', async () => {
    const [task = '', other = ''] = await storeRuns({ count: 2, daysAgo: 5 })
    await storeEarlierRun(task, 5)
    const [passed = ''] = await ids('runs')
    const search = { workspaceId, hotDays, keptDays: 30 }
    const tasksAfter = async (after: string | null) => {
      const { runs } = await readNextPart(ctx.pool, { ...search, after })
      return runs.filter(({ endsTask }) => endsTask).map(({ taskId }) => taskId)
    }
    expect(await tasksAfter(passed)).toEqual([other])
    expect(await tasksAfter(null)).toEqual([task, other])
  })

  it('divides a day of more than 10,000 runs, to the last run', async () => {
    await storeRuns({ count: maxPart.runs + 1, daysAgo: 4 })
    expect(await storeLog(ctx, never)).toBe(maxPart.runs + 1)
    const all = await parts()
    expect(all.length).toBeGreaterThan(1)
    for (const { object_key: key, succeeded, failed, first_run_id: first, last_run_id: last } of all) {
      const runs = (await lines(key)).map(line => JSON.parse(line).run.id)
      expect(runs).toHaveLength(succeeded + failed)
      expect([runs.length <= maxPart.runs, runs[0], runs.at(-1)]).toEqual([true, last, first]) // newest first
    }
    await storeRuns({ count: 11, daysAgo: 3 })
    const search = { workspaceId, hotDays, keptDays: 30 }
    expect((await readNextPart(ctx.pool, search, { ...maxPart, runs: 10 })).runs).toHaveLength(10)
  }, 120_000)

  it('makes parts of at most 16 MB, however large the responses are', async () => {
    await storeRuns({ count: 300, daysAgo: 4, responseBytes: 64 * 1024 }) // 38 MB as hexadecimal digits
    expect(await storeLog(ctx, never)).toBe(300)
    const all = await parts()
    expect(all.length).toBeGreaterThan(2)
    for (const { object_key: key } of all)
      expect((await lines(key)).join('\n').length).toBeLessThanOrEqual(maxPart.bytes)
  }, 120_000)

  it('keeps one line to a part when it is larger than a part', async () => {
    await storeRuns({ count: 200, daysAgo: 4, responseBytes: 1024 })
    const search = { workspaceId, hotDays, keptDays: 30 }
    expect((await readNextPart(ctx.pool, search, { runs: 10, bytes: 100 })).runs).toHaveLength(1)
  })

  describe('loses no run and shows none twice', () => {
    const broken = (method: 'write' | 'remove', after = false): ObjectStorage => ({
      ...log.objects,
      [method]: async (...args: [string, Buffer, string]) => {
        if (after) await log.objects[method](...args)
        throw new Error('The process ends here.')
      },
    })

    it.each([false, true])('when the upload fails (%s: after the object is there)', async after => {
      await storeRuns({ count: 4, daysAgo: 4 })
      const failing = { ...ctx, logStorage: { objects: broken('write', after), hotDays } }
      await expect(storeLog(failing, never)).rejects.toThrow('ends here')
      expect([(await counts()).runs, (await parts())[0]?.state]).toEqual([4, 'deleting'])
      expect(await storeLog(ctx, never)).toBe(4)
      expect(await expireLogParts(ctx, never)).toBe(0) // the upload may still be in progress
      await ctx.pool.query(`UPDATE log_parts SET created_at = now() - interval '16 minutes'`)
      expect(await expireLogParts(ctx, never)).toBe(1)
      expect([(await parts()).map(({ state }) => state), (await keys()).length]).toEqual([['stored'], 1])
    })

    it('when the process dies before the runs are deleted', async () => {
      await storeRuns({ count: 4, daysAgo: 4 })
      let died: () => void = () => {}
      const death = new Promise<void>(resolve => {
        died = resolve
      })
      const write: ObjectStorage['write'] = async (...args) => {
        await log.objects.write(...args)
        died()
        return new Promise(() => {})
      }
      void storeLog({ ...ctx, logStorage: { objects: { ...log.objects, write }, hotDays } }, never)
      await death
      expect([(await counts()).runs, (await parts())[0]?.state]).toEqual([4, 'writing'])
      expect(await storeLog(ctx, never)).toBe(0) // for another scheduler it is in progress
      await ctx.pool.query(`UPDATE log_parts SET created_at = now() - interval '16 minutes'`)
      expect(await expireLogParts(ctx, never)).toBe(1)
      expect(await keys()).toEqual([])
      expect(await storeLog(ctx, never)).toBe(4)
    })

    it('when a run or its task changes during the upload', async () => {
      const [task = ''] = await storeRuns({ count: 4, daysAgo: 4 })
      const changing = (change: () => Promise<unknown>) => ({
        ...ctx,
        logStorage: { hotDays, objects: { ...log.objects, write: async () => void (await change()) } },
      })
      const changes = [
        () => setTask(task, 'updated_at = now()'),
        () => ctx.pool.query(`UPDATE runs SET status = status WHERE task_id = $1`, [task]),
        () => ctx.pool.query(`DELETE FROM runs WHERE task_id = $1`, [task]),
        () => ctx.pool.query(`UPDATE log_parts SET state = 'deleting'`), // as the purge of a workspace does
      ]
      for (const change of changes) expect(await storeLog(changing(change), never)).toBe(0)
      expect(await counts()).toMatchObject({ runs: 3, tasks: 4, log_parts: 4 })
      expect(new Set((await parts()).map(({ state }) => state))).toEqual(new Set(['deleting']))
    })

    it('when the deletion of an object fails', async () => {
      await storeRuns({ count: 4, daysAgo: 4 })
      await storeLog(ctx, never)
      await ctx.pool.query(`UPDATE log_parts SET state = 'deleting', created_at = now() - interval '16 minutes'`)
      for (const after of [false, true]) {
        const failing = { ...ctx, logStorage: { objects: broken('remove', after), hotDays } }
        await expect(expireLogParts(failing, never)).rejects.toThrow('ends here')
      }
      expect(await expireLogParts(ctx, never)).toBe(1)
      expect([await keys(), await parts()]).toEqual([[], []])
    })
  })

  it('continues with other workspaces after a failure, and ends the round after three in a row', async () => {
    const all = [workspaceId]
    for (let more = 0; more < 4; more++) all.push(await storeWorkspace(ctx))
    await ctx.pool.query(`UPDATE organizations SET tier = 'unicorn'`)
    for (workspaceId of all.sort()) await storeRuns({ count: 1, daysAgo: 4 })
    const reported: number[] = []
    const round = async (failing: string[]) => {
      const write: ObjectStorage['write'] = async (key, ...more) => {
        if (failing.some(id => key.startsWith(toId('ws', id)))) throw new Error('No answer.')
        await log.objects.write(key, ...more)
      }
      const metrics = { ...ctx.metrics, logNotStored: (count: number) => void reported.push(count) }
      return storeLog({ ...ctx, metrics, logStorage: { hotDays, objects: { ...log.objects, write } } }, never)
    }
    await expect(round(all)).rejects.toThrow('No answer.')
    await expect(round(all.slice(0, 2))).rejects.toThrow('No answer.')
    expect(await counts()).toMatchObject({ runs: 2 })
    expect(await round([])).toBe(2)
    expect(reported).toEqual([3, 2, 0])
  })

  it('deletes parts by the tier of their organization, except under legal hold', async () => {
    await storeRuns({ count: 5, daysAgo: 10 })
    await storeLog(ctx, never)
    await storeRuns({ count: 5, daysAgo: 11 }) // stays in PostgreSQL
    await ctx.pool.query(`UPDATE log_parts SET created_at = now() - interval '1 day'`)
    const storage = await countStorage()
    const { rows } = await ctx.pool.query<{ id: string }>('SELECT id FROM organizations')
    expect(await expireLogParts(ctx, never)).toBe(0)
    await ctx.pool.query(`UPDATE organizations SET tier = 'free'`) // a week
    const held = { ...ctx, legalHold: rows.map(({ id }) => id) }
    expect([await expireLogParts(held, never), await expireLog(held, never)]).toEqual([0, 0])
    expect([await expireLogParts(ctx, never), await expireLog(ctx, never)]).toEqual([1, 5])
    expect([await keys(), await parts(), storage > 0, await countStorage()]).toEqual([[], [], true, 0])
  })

  it('deletes the tasks that a restored day brought back, though their latest runs are elsewhere', async () => {
    const [task = ''] = await storeRuns({ count: 1, daysAgo: 5 })
    await ctx.pool.query(`UPDATE tasks SET run_id = $2 WHERE id = $1`, [task, newUuid(Date.now() - 4 * day)])
    expect(await storeLog(ctx, never)).toBe(1)
    expect(await ids('tasks')).toEqual([task]) // until its latest run goes
    await ctx.pool.query(`UPDATE organizations SET tier = 'free'`)
    await ctx.pool.query(
      `UPDATE tasks SET id = uuid_v7(now() - interval '9 days'), finished_at = now() - interval '8 days'`,
    )
    await ctx.pool.query(`UPDATE task_requests SET task_id = (SELECT id FROM tasks)`)
    expect(await expireLog(ctx, never)).toBe(1)
    expect(await counts()).toMatchObject({ tasks: 0, task_requests: 0 })
  })

  it('purges the parts of a deleted workspace before the workspace', async () => {
    await storeRuns({ count: 5, daysAgo: 4 })
    await storeLog(ctx, never)
    await countStorage()
    await ctx.pool.query('UPDATE workspaces SET deleted_at = now(), wound_down_at = now()')
    const purge = async () => {
      for (let n = 1; n > 0; ) {
        n = await purgeWorkspace(ctx.pool, workspaceId, 1000)
        await countStorage()
      }
      await deleteEmptyWorkspace(ctx.pool, workspaceId)
      return (await ctx.pool.query('SELECT FROM workspaces')).rowCount
    }
    expect([await purge(), (await keys()).length]).toEqual([1, 1])
    await ctx.pool.query(`UPDATE log_parts SET created_at = now() - interval '16 minutes'`)
    expect(await expireLogParts(ctx, never)).toBe(1)
    expect([await purge(), await keys()]).toEqual([0, []])
  })

  it('does nothing without a configuration', async () => {
    await storeRuns({ count: 5, daysAgo: 4 })
    const without = { ...ctx, logStorage: null }
    expect([await storeLog(without, never), await expireLogParts(without, never)]).toEqual([0, 0])
    expect(await counts()).toMatchObject({ runs: 5, log_parts: 0 })
  })

  const day = 86_400_000

  type Seed = { count: number; daysAgo: number; responseBytes?: number }

  /** Stores finished tasks with one run each, in one hour of a day. Every fifth run failed. Returns the tasks. */
  async function storeRuns({ count, daysAgo, responseBytes = 10 }: Seed): Promise<string[]> {
    const { rows } = await ctx.pool.query<{ id: string }>(
      `WITH made AS (
         SELECT gen_random_uuid() AS id, uuid_v7(at) AS run_id, at, i % 5 = 0 AS failed
         FROM (
           SELECT i, (date_trunc('day', now() AT TIME ZONE 'UTC') - $3 * interval '1 day' + interval '12 hours') AT TIME ZONE 'UTC'
             + i * interval '1 ms' AS at FROM generate_series(1, $2::int) i
         ) times
       ),
       tasks_made AS (
         INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, finished_at)
         SELECT id, $1, 'task', 'success', 1, at, at, run_id, at FROM made
       ),
       requests AS (
         INSERT INTO task_requests (task_id, name, url, method, payload, labels, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
         SELECT id, 'A task', 'https://example.com/', 'POST', '{"n":1}', '{red}', 0, 'fixed', 1000, 1000, 1000 FROM made
       ),
       labelled AS (INSERT INTO task_labels (workspace_id, label, task_id) SELECT $1, 'red', id FROM made),
       runs_made AS (
         INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, waited_for, timings, response_body)
         SELECT run_id, $1, id, 1, 'task', CASE WHEN failed THEN 'failed' ELSE 'success' END::run_status, at, at, at, 'backlog',
                CASE WHEN failed THEN '[4,11,null,42]' END,
                decode(repeat('0f', $4::int), 'hex') FROM made
       ),
       counted AS (INSERT INTO usage_changes (workspace_id, storage_bytes) SELECT $1, count(*) * ($4::int + 7) FROM made)
       SELECT id FROM made ORDER BY run_id`,
      [workspaceId, count, daysAgo, responseBytes],
    )
    // As autovacuum does when rows have become many: until then the planner knows the empty tables of the test before.
    if (count > 1_000) await ctx.pool.query('ANALYZE tasks, task_requests, task_labels, runs')
    return rows.map(({ id }) => id)
  }

  async function storeEarlierRun(task: string, daysAgo: number): Promise<void> {
    await ctx.pool.query(
      `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
       SELECT uuid_v7(at), $1, $2, 1, 'task', 'failed', at, at, at
       FROM (SELECT (date_trunc('day', now() AT TIME ZONE 'UTC') - $3 * interval '1 day' + interval '1 hour') AT TIME ZONE 'UTC' AS at) t`,
      [workspaceId, task, daysAgo],
    )
  }

  async function setTask(id: string, change: string): Promise<void> {
    await ctx.pool.query(`UPDATE tasks SET ${change} WHERE id = $1`, [id])
  }

  async function countStorage(): Promise<number> {
    while ((await foldUsageChanges(ctx.pool, 1000)) > 0);
    const { rows } = await ctx.pool.query<{ n: string }>('SELECT coalesce(sum(bytes), 0) AS n FROM storage')
    return Number(rows[0]?.n)
  }

  async function sumOfRunChanges(): Promise<unknown> {
    const text = `SELECT minute, sum(weight)::int AS runs FROM run_changes, unnest(lags_ms) GROUP BY 1 HAVING sum(weight) <> 0 ORDER BY 1`
    return (await ctx.pool.query(text)).rows
  }

  async function counts() {
    const tables = ['runs', 'tasks', 'task_requests', 'task_labels', 'log_parts']
    const sql = tables.map(table => `(SELECT count(*)::int FROM ${table}) AS ${table}`)
    return (await ctx.pool.query(`SELECT ${sql}`)).rows[0]
  }

  async function everyRow(): Promise<unknown> {
    const text = (table: string, key: string) => `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY ${key}`
    const keys = { runs: 'id', tasks: 'id', task_requests: 'task_id', task_labels: 'task_id' }
    const all = Object.entries(keys).map(async ([table, key]) => (await ctx.pool.query(text(table, key))).rows)
    return Promise.all(all)
  }

  async function ids(table: string): Promise<string[]> {
    return (await ctx.pool.query(`SELECT id FROM ${table} ORDER BY id`)).rows.map(({ id }) => id)
  }

  async function parts() {
    return (await ctx.pool.query('SELECT *, day::text AS day FROM log_parts p ORDER BY p.day, part')).rows
  }

  async function keys(): Promise<string[]> {
    const place = log.bucketFolder
    const files = await readdir(place, { recursive: true })
    return files.filter(file => file.includes(toId('ws', workspaceId)) && file.endsWith('.jsonl.gz'))
  }

  async function lines(key: string): Promise<string[]> {
    const all: string[] = []
    for await (const line of readLines(await log.objects.read(key))) all.push(line)
    return all
  }

  async function restore(ofDay: string, days: number): Promise<number> {
    let total = 0
    for (const part of await partsOfDay(ctx.pool, ofDay, null))
      total += (await restorePart(ctx.pool, part, await lines(part.objectKey), days)) ?? 0
    return total
  }
})
