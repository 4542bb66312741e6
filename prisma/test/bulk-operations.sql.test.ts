import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newUuid } from '@belfry/domain/id'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type BulkRequest, findBulkOperation, startBulkOperation } from '../src/bulk-operations/bulk-operations.ts'
import { stepBulkOperation } from '../src/bulk-operations/step-bulk-operation.ts'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { deployMigrations } from '../src/migrate/deploy-migrations.ts'
import type { Pool } from '../src/postgres/pool.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { findMatchingTasks, isIn } from '../src/tasks/task-filter.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, aWorkspace, taskRow, useDatabase } from './setup.ts'
import { copyFolder, emptyDatabase } from './setup-migrations.ts'

const db = useDatabase()
const all = { action: 'replay', filter: {}, perSecond: null } as const satisfies BulkRequest

async function storeDeadLetters(workspaceId: string, ids: string[], executeAt: (place: number) => Date) {
  await insertTasks(
    db.pool,
    ids.map(id => aTask({ id, workspaceId })),
  )
  const text = `
    UPDATE tasks SET state = 'dead', finished_at = now() - interval '1 s', execute_at = dead.at
    FROM unnest($1::uuid[], $2::timestamptz[]) AS dead (id, at) WHERE tasks.id = dead.id`
  await db.pool.query(text, [ids, ids.map((_, place) => executeAt(place))])
}

describe('a replay in steps', () => {
  // Each of two processes creates every other task, and one clock is an hour ahead of the other.
  const idsOfTwoClocks = () => Array.from({ length: 20 }, (_, n) => newUuid(Date.now() + (n % 2) * 3_600_000 + n))
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

  it.each([null, 100, 1_000])('keeps the order of the originals, at %j per second', async perSecond => {
    const workspaceId = await aWorkspace(db.pool)
    const ids = idsOfTwoClocks()
    const time = minutesAgo(60).getTime()
    // Pairs are due at the same time.
    await storeDeadLetters(workspaceId, ids, place => new Date(time + Math.floor(place / 2)))
    await startBulkOperation(db.pool, workspaceId, { ...all, perSecond })
    const steps: number[] = []
    for (let step = await stepBulkOperation(db.pool, 3); step; step = await stepBulkOperation(db.pool, 3)) {
      steps.push(step.done)
    }
    expect(steps).toEqual([3, 3, 3, 3, 3, 3, 2])
    const text = `
      SELECT o.id FROM tasks c JOIN tasks o ON o.id = c.replay_of WHERE c.workspace_id = $1 ORDER BY c.execute_at, c.id`
    const { rows } = await db.pool.query<{ id: string }>(text, [workspaceId])
    const original = 'SELECT id FROM tasks WHERE workspace_id = $1 AND replay_of IS NULL ORDER BY execute_at, id'
    expect(rows).toEqual((await db.pool.query(original, [workspaceId])).rows)
  })

  it('makes the copies of a step due after those of the step before, whose transaction began later', async () => {
    const workspaceId = await aWorkspace(db.pool)
    await storeDeadLetters(workspaceId, idsOfTwoClocks(), minutesAgo)
    const { id } = await startBulkOperation(db.pool, workspaceId, all)
    await stepBulkOperation(db.pool, 10)
    // As if the clock of PostgreSQL was set back.
    await db.pool.query(
      `UPDATE bulk_operations SET next_due_at = next_due_at + interval '1 minute' WHERE workspace_id = $1`,
      [workspaceId],
    )
    while (await stepBulkOperation(db.pool, 10));
    const text = `SELECT execute_at FROM tasks WHERE workspace_id = $1 AND replay_of IS NOT NULL ORDER BY execute_at`
    const times = (await db.pool.query(text, [workspaceId])).rows.map(row => row.execute_at.getTime())
    expect((times[10] ?? 0) - (times[9] ?? 0)).toBe(60_001)
    expect(await findBulkOperation(db.pool, workspaceId, id)).toMatchObject({ done: 20, total: 20 })
  })
})

it('an operation on chosen tasks reads no others', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const ids = Array.from({ length: 9 }, () => newUuid())
  await storeDeadLetters(workspaceId, ids, () => new Date())
  const chosen = [ids[7], ids[2], randomUUID()] as string[]
  await startBulkOperation(db.pool, workspaceId, { ...all, action: 'discard', filter: { ids: chosen } })
  expect(await stepBulkOperation(db.pool, 5)).toMatchObject({ done: 2 })
  const text = 'SELECT id FROM tasks WHERE workspace_id = $1 AND settled_at IS NOT NULL ORDER BY id'
  const { rows } = await db.pool.query(text, [workspaceId])
  expect(rows.map(({ id }) => id)).toEqual([ids[2], ids[7]].sort())
  expect(await stepBulkOperation(db.pool, 5)).toBeNull()
})

it('an operation that waits can be left out, and others continue', async () => {
  const [workspaceId, other] = [await aWorkspace(db.pool), await aWorkspace(db.pool)]
  const [waiting, pending] = [aTask({ workspaceId }), aTask({ workspaceId: other })]
  await insertTasks(db.pool, [waiting, pending])
  await db.pool.query('SELECT pg_sleep(0.01)')
  const { id: dispatcherId } = await enterDispatchers(db.pool)
  await claimTasks(db.pool, { dispatcherId }, [{ taskId: waiting.id, token: randomUUID(), isPrefetch: true }])
  const { id } = await startBulkOperation(db.pool, workspaceId, { ...all, action: 'cancel' })
  await startBulkOperation(db.pool, other, { ...all, action: 'cancel' })
  expect(await stepBulkOperation(db.pool, 10)).toMatchObject({ id, done: 0, isWaiting: true })
  expect(await stepBulkOperation(db.pool, 10, [id])).toMatchObject({ ended: [pending.id], isWaiting: false })
  expect(await stepBulkOperation(db.pool, 10, [id])).toBeNull()
  await db.pool.query('UPDATE bulk_operations SET finished_at = now() WHERE id = $1', [id])
})

it.each(['cancel', 'stop'] as const)(
  'a %s ends a task whose claim is undone after the walk has passed it',
  async action => {
    const workspaceId = await aWorkspace(db.pool)
    const [taskId, ...others] = Array.from({ length: 3 }, (_, i) => newUuid(Date.now() - i * 1_000)) as [string]
    await insertTasks(
      db.pool,
      [taskId, ...others].map(id => aTask({ id, workspaceId })),
    )
    if (action === 'stop')
      await db.pool.query(`UPDATE tasks SET state = 'retrying', attempts = 1 WHERE workspace_id = $1`, [workspaceId])
    await db.pool.query('SELECT pg_sleep(0.01)')
    const { id: dispatcherId } = await enterDispatchers(db.pool)
    const [claim] = await claimTasks(db.pool, { dispatcherId }, [{ taskId, token: randomUUID(), isPrefetch: true }])
    if (claim?.kind !== 'claimed') throw new Error('The task was not claimed.')
    const { id } = await startBulkOperation(db.pool, workspaceId, { ...all, action })
    onTestFinished(async () => void (await db.pool.query('DELETE FROM bulk_operations WHERE id = $1', [id])))
    expect(await stepBulkOperation(db.pool, 1)).toMatchObject({ id, done: 1, isWaiting: false }) // the newest task is prefetched
    await undoClaims(db.pool, [claim.task])
    while (await stepBulkOperation(db.pool, 1));
    expect(await taskRow(db.pool, taskId)).toMatchObject({ state: action === 'cancel' ? 'cancelled' : 'dead' })
    expect(await findBulkOperation(db.pool, workspaceId, id)).toMatchObject({ done: 3 })
  },
)

it('a selection is not complete when tasks that it has read leave the list at once', async () => {
  const workspaceId = await aWorkspace(db.pool)
  const ids = Array.from({ length: 5 }, (_, i) => newUuid(Date.now() - i * 1_000))
  await insertTasks(
    db.pool,
    ids.map(id => aTask({ id, workspaceId })),
  )
  const query = async (text: string, values: unknown[]) => {
    const answer = await db.pool.query(text, values)
    const newest = [ids.slice(0, 2)]
    await db.pool.query(`UPDATE tasks SET state = 'cancelled', finished_at = now() WHERE id = ANY ($1::uuid[])`, newest)
    return answer
  }
  const leaving = { query } as unknown as Pool
  const found = await findMatchingTasks(leaving, workspaceId, isIn('pending'), {}, 10, { maxScanned: 3 })
  expect(found).toEqual({ ids: ids.slice(0, 3), isComplete: false })
})

it('the migration moves operations from the two tables before it', async () => {
  const { url, query } = await emptyDatabase()
  const folder = await copyFolder({})
  const later = ['20261127000410_dead_letters_in_order', '20261127000800_undecided_tasks']
  for (const name of ['20261127000400_bulk_operations', ...later])
    await rm(join(folder, 'migrations', name), { recursive: true })
  await deployMigrations(url, folder)
  const [workspace, cronJob] = [randomUUID(), randomUUID()]
  const filter = { sources: ['cron'], cronJobIds: null, labels: ['x'], name: 'A', executeFrom: null }
  const to = '2026-11-27T08:00:00.120Z'
  await query(`
    INSERT INTO organizations (id, name, slug, tier) VALUES ('${workspace}', 'A', 'a', 'free');
    INSERT INTO workspaces (id, organization_id, name) VALUES ('${workspace}', '${workspace}', 'A');
    INSERT INTO task_operations (id, workspace_id, action, filter, total, ended, cursor, held_at)
    VALUES (gen_random_uuid(), '${workspace}', 'stop', '${JSON.stringify({ ...filter, executeTo: to })}', 9, 4, '${cronJob}', now());
    INSERT INTO dead_letter_operations (id, workspace_id, action, cron_job_id, execute_to, filter, total, settled, cursor, per_second,
                                        finished_at)
    VALUES (gen_random_uuid(), '${workspace}', 'replay', '${cronJob}', '${to}', '{"hosts":["a"],"errors":null,"name":null}', 9, 8,
            gen_random_uuid(), 5, now())`)
  expect(await deployMigrations(url)).toContain('20261127000400_bulk_operations')
  expect(
    await query(`SELECT action, filter, per_second, total, done, cursor, held_at IS NULL AS runs, finished_at IS NULL AS open
                 FROM bulk_operations ORDER BY action`),
  ).toEqual([
    {
      ...{ action: 'stop', filter: { source: ['cron'], label: ['x'], name: 'A', to }, per_second: null },
      ...{ total: 9, done: 4, cursor: cronJob, runs: false, open: true },
    },
    {
      ...{ action: 'replay', filter: { cronjob_id: [cronJob], to, host: ['a'] }, per_second: 5 },
      ...{ total: 9, done: 8, cursor: null, runs: true, open: false },
    },
  ])
})
