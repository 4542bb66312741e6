import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { backfillCronJob } from '../src/cron-jobs/backfill-cron-job.ts'
import { changeCronJob, triggerCronJob } from '../src/cron-jobs/change-cron-job.ts'
import { expandCronJobs } from '../src/cron-jobs/expand-cron-jobs.ts'
import { settleDeadLetters } from '../src/dead-letters/settle-dead-letters.ts'
import { replayTask } from '../src/tasks/replay-task.ts'
import { claimAll, taskRow } from './setup.ts'
import { lookAheadMs, useCronJobs } from './use-cron-jobs.ts'

const { db, create, letTimePass, tasksOf, makeDue } = useCronJobs()

describe('backfillCronJob', () => {
  const minutesAgo = (...minutes: number[]) =>
    minutes.map(ago => new Date(Math.floor(Date.now() / 60_000 - ago) * 60_000))

  it('creates one task for each past occurrence without one, once, due at a pace', async () => {
    const job = await create({ catchUp: 'none', overlap: 'skip', maxAgeMs: 60_000 })
    const missed = (await tasksOf(job))[0]
    const times = minutesAgo(30, 20, 10)
    // The second one has run, and the third one was missed.
    await db.pool.query('UPDATE tasks SET occurrence_at = $2, execute_at = $2 WHERE id = $1', [missed?.id, times[1]])
    const [, second] = await tasksOf(job)
    await db.pool.query(
      `UPDATE tasks SET occurrence_at = $2, execute_at = $2, state = 'cancelled', state_reason = 'missed', finished_at = now()
       WHERE id = $1`,
      [second?.id, times[2]],
    )
    const plan = { times, perSecond: 2, createdBy: 'a user' }
    const both = await Promise.all([1, 2].map(() => backfillCronJob(db.pool, job.workspaceId, job.id, plan)))
    const due = both.flatMap(result => result?.due ?? [])
    expect(due).toHaveLength(2)
    const rows = await Promise.all(due.map(({ id }) => taskRow(db.pool, id)))
    expect(rows.map(row => row.execute_at)).toEqual([times[0], times[2]])
    expect(rows[0]).toMatchObject({
      ...{ source: 'cron', state: 'pending', occurrence_at: null, payload: job.payload },
    })
    const [first = 0, last = 0] = due.map(({ dueAt }) => dueAt.getTime())
    expect(last - first).toBe(500)
    expect(rows.map(row => row.expires_at.getTime() - row.due_at.getTime())).toEqual([60_000, 60_000])
    await makeDue(due.map(({ id }) => id))
    const claims = await claimAll(
      db.pool,
      due.map(({ id }) => id),
    )
    expect(claims.map(({ kind }) => kind)).toEqual(['claimed', 'claimed'])
  })

  it('and a replay of the same cancelled occurrence exclude each other', async () => {
    const job = await create()
    const times = minutesAgo(30, 20)
    const ids = (await tasksOf(job)).slice(0, 2).map(({ id }) => id)
    const text = `
      UPDATE tasks SET occurrence_at = i.at, execute_at = i.at, state = 'cancelled', state_reason = 'missed', finished_at = now()
      FROM unnest($1::uuid[], $2::timestamptz[]) AS i (id, at) WHERE tasks.id = i.id`
    await db.pool.query(text, [ids, times])
    const [replayed = '', other = ''] = ids
    await replayTask(db.pool, job.workspaceId, replayed)
    const { due = [] } = (await backfillCronJob(db.pool, job.workspaceId, job.id, { times, perSecond: null })) ?? {}
    expect(await Promise.all(due.map(async ({ id }) => (await taskRow(db.pool, id)).execute_at))).toEqual([times[1]])
    const bulk = { perSecond: null, from: null, withCancelled: true }
    const settled = await settleDeadLetters(db.pool, job.workspaceId, ids, 'replay', bulk)
    expect([settled.replays, (await taskRow(db.pool, other)).settled_at]).toEqual([[], expect.any(Date)])
  })

  it('has copies with as much time as its tasks had', async () => {
    const job = await create({ maxAgeMs: 60_000 })
    const plan = { times: minutesAgo(30, 20), perSecond: null }
    const ids = (await backfillCronJob(db.pool, job.workspaceId, job.id, plan))?.due.map(({ id }) => id) ?? []
    const triggered = await triggerCronJob(db.pool, job.workspaceId, job.id)
    ids.push(triggered?.id ?? '')
    await db.pool.query(`UPDATE tasks SET state = 'dead', finished_at = now() WHERE id = ANY ($1)`, [ids])
    await replayTask(db.pool, job.workspaceId, ids[0] ?? '')
    await settleDeadLetters(db.pool, job.workspaceId, ids, 'replay')
    const text = 'SELECT expires_at - due_at = $2::interval AS "isRight" FROM tasks WHERE replay_of = ANY ($1)'
    const { rows } = await db.pool.query(text, [ids, '1 minute'])
    expect(rows).toEqual(ids.map(() => ({ isRight: true })))
  })

  it('is kept by a new rule, and leaves the next run as it is', async () => {
    const job = await create({ cron: '0 0 1 1 *' })
    const { due = [] } =
      (await backfillCronJob(db.pool, job.workspaceId, job.id, { times: minutesAgo(10), perSecond: null })) ?? {}
    await changeCronJob(db.pool, job.workspaceId, job.id, { cron: '0 0 2 1 *' }, lookAheadMs)
    expect(await tasksOf(job)).toMatchObject([{ id: due[0]?.id, state: 'pending' }])
  })

  it('leaves occurrences that no scheduler has looked at to it, so none runs twice', async () => {
    const job = await create({ catchUp: 'all' })
    await letTimePass(job, 30)
    const times = minutesAgo(20, 10)
    const plan = { times, perSecond: null }
    expect((await backfillCronJob(db.pool, job.workspaceId, job.id, plan))?.due).toEqual([])
    await expandCronJobs(db.pool, { lookAheadMs, limit: 1_000 })
    expect((await backfillCronJob(db.pool, job.workspaceId, job.id, plan))?.due).toEqual([])
    const made = (await tasksOf(job)).map(({ at }) => at.getTime())
    for (const at of times) expect(made.filter(time => time === at.getTime())).toHaveLength(1)
  })

  it('finds an occurrence that became a task long before its time', async () => {
    const job = await create({ cron: '0 * * * *' })
    const times = minutesAgo(10)
    const early = `
      INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, occurrence_at, cron_job_id, finished_at)
      VALUES (uuid_v7(now() - interval '5 hours'), $1, 'cron', 'success', $2, $2, $2, $3, now())`
    await db.pool.query(early, [job.workspaceId, times[0], job.id])
    expect((await backfillCronJob(db.pool, job.workspaceId, job.id, { times, perSecond: null }))?.due).toEqual([])
  })

  const storePart = ({ workspaceId }: { workspaceId: string }) =>
    db.pool.query(
      `INSERT INTO log_parts (id, workspace_id, day, part, state, object_key, first_run_id, last_run_id, first_task_id,
                              last_task_id, succeeded, failed, object_bytes, checksum)
       SELECT $1, $1, now(), 1, 'stored', 'a', run, run, run, run, 1, 0, 1, '' FROM uuid_v7(now() - interval '25 minutes') AS run`,
      [workspaceId],
    )

  it('is refused where object storage may have the tasks of missing occurrences', async () => {
    const job = await create()
    const plan = { times: minutesAgo(30, 20), perSecond: null }
    const backfill = () => backfillCronJob(db.pool, job.workspaceId, job.id, plan)
    await storePart(job)
    const setPart = (changes: string) =>
      db.pool.query(`UPDATE log_parts SET ${changes} WHERE workspace_id = $1`, [job.workspaceId])
    const before = await tasksOf(job)
    await db.pool.query(`UPDATE cron_jobs SET created_at = now() - interval '1 day' WHERE id = $1`, [job.id])
    expect(await backfill()).toMatchObject({ due: [], isStored: true })
    expect(await tasksOf(job)).toEqual(before)
    await setPart(`state = 'restored'`)
    expect(await backfill()).toMatchObject({ due: [{}, {}], isStored: false })
    await setPart(`state = 'stored'`)
    expect(await backfill(), 'nothing is missing').toMatchObject({ due: [], isStored: false })
  })

  it('is not refused for parts from before the first occurrence or the cron job', async () => {
    const job = await create()
    await storePart(job)
    const backfill = (...minutes: number[]) =>
      backfillCronJob(db.pool, job.workspaceId, job.id, { times: minutesAgo(...minutes), perSecond: null })
    expect(await backfill(40)).toMatchObject({ due: [{}] })
    await db.pool.query(`UPDATE cron_jobs SET created_at = now() - interval '1 day' WHERE id = $1`, [job.id])
    expect(await backfill(20, 10)).toMatchObject({ due: [{}, {}], isStored: false })
  })

  it('creates nothing for another workspace', async () => {
    const job = await create({ cron: '0 0 1 1 *' })
    const plan = { times: minutesAgo(10), perSecond: null }
    expect(await backfillCronJob(db.pool, randomUUID(), job.id, plan)).toBeNull()
    expect(await tasksOf(job)).toEqual([])
  })
})
