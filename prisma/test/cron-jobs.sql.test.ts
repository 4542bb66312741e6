import { randomUUID } from 'node:crypto'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { describe, expect, it } from 'vitest'
import {
  changeCronJob,
  deleteCronJob,
  pauseCronJob,
  resumeCronJob,
  triggerCronJob,
} from '../src/cron-jobs/change-cron-job.ts'
import { expandCronJobs } from '../src/cron-jobs/expand-cron-jobs.ts'
import { endTask } from '../src/tasks/change-task.ts'
import { claimAll, taskRow } from './setup.ts'
import { lookAheadMs, minuteMs, useCronJobs, withinMinute } from './use-cron-jobs.ts'

const { db, create, letTimePass, tasksOf, finish, makeDue } = useCronJobs()

describe('expandCronJobs', () => {
  it('makes one task of each occurrence, with several schedulers at once', async () => {
    const jobs = await Promise.all(Array.from({ length: 40 }, () => create()))
    await db.pool.query(`DELETE FROM tasks WHERE cron_job_id = ANY ($1)`, [jobs.map(({ id }) => id)])
    await db.pool.query(`UPDATE cron_jobs SET next_run_at = date_trunc('minute', now()) + interval '1 minute'`)
    const drain = async () => {
      while ((await expandCronJobs(db.pool, { lookAheadMs, limit: 7 })).jobs > 0);
    }
    await Promise.all([drain(), drain(), drain(), drain()])
    for (const job of jobs) {
      const times = (await tasksOf(job)).map(({ at }) => at.getTime())
      const first = times[0] ?? 0
      expect(times.length).toBeGreaterThanOrEqual(6)
      expect(times).toEqual(times.map((_, i) => first + i * minuteMs))
    }
  })

  it('copies the request of the cron job to its task, and continues after the last occurrence', async () => {
    const job = await create()
    const [first] = await tasksOf(job)
    const row = await taskRow(db.pool, first?.id ?? '')
    expect(row).toMatchObject({ workspace_id: job.workspaceId, source: 'cron', payload: job.payload, max_retries: 0 })
    expect([row.occurrence_at, row.due_at]).toEqual([row.execute_at, row.execute_at])
    const { rows } = await db.pool.query('SELECT next_run_at AS next FROM cron_jobs WHERE id = $1', [job.id])
    const last = (await tasksOf(job)).at(-1)?.at.getTime() ?? 0
    expect(rows[0].next.getTime()).toBe(last + minuteMs)
  })

  it.each([
    ['latest', 1],
    ['all', 8],
    ['none', 0],
  ] as const)('after an outage, catch_up %s runs the last %i missed occurrences', async (catchUp, runs) => {
    // An occurrence is late only after some seconds, and here the last one must be.
    await expect
      .poll(() => new Date().getMinutes() * 60 + new Date().getSeconds(), { timeout: 15_000 })
      .toBeGreaterThan(11)
    const job = await create({ catchUp, cron: '0 * * * *' })
    await db.pool.query('DELETE FROM tasks WHERE cron_job_id = $1', [job.id])
    const text = `UPDATE cron_jobs SET next_run_at = date_trunc('hour', now()) - interval '7 hours' WHERE id = $1`
    await db.pool.query(text, [job.id])
    await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })
    const reasons = (await tasksOf(job)).map(({ state, reason }) => reason ?? state)
    expect(reasons).toEqual(Array.from({ length: 8 }, (_, i) => (i < 8 - runs ? 'missed' : 'pending')))
  })

  it('records all missed occurrences of a long outage, of which "all" runs the last 100', async () => {
    const job = await create({ catchUp: 'all' })
    await letTimePass(job, 5000)
    while ((await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })).jobs > 0);
    const tasks = await tasksOf(job)
    const [first = 0, ...others] = tasks.map(({ at }) => at.getTime())
    expect(others).toEqual(others.map((_, i) => first + (i + 1) * minuteMs))
    expect([5000, 5001]).toContain(others.length) // a minute may begin meanwhile
    const waiting = tasks.filter(({ state }) => state === 'pending')
    expect([100, 101]).toContain(waiting.length) // the one of this very minute may not be late yet
    expect(tasks.slice(-waiting.length)).toEqual(waiting)
  })

  it('copies a bounded number of bytes at a time, of several cron jobs with a long payload', async () => {
    const payload = JSON.stringify('x'.repeat(256 * 1024 - 2))
    const jobs = [await create({ payload }), await create({ payload })]
    for (const job of jobs) await letTimePass(job, 16 * 60)
    for (const expected of [128, 256]) {
      expect(await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })).toMatchObject({ hasMore: true })
      const tasks = await Promise.all(jobs.map(tasksOf))
      expect(tasks.flat()).toHaveLength(expected)
    }
  })

  it('skips an unreadable cron job, expands the others, and expands it once it is readable', async () => {
    const [bad, good] = [await create(), await create()]
    await letTimePass(good, 0)
    await letTimePass(bad, 0)
    const cursor = async () => {
      const text = `SELECT next_run_at, unreadable_since IS NOT NULL AS "isUnreadable" FROM cron_jobs WHERE id = $1`
      return (await db.pool.query(text, [bad.id])).rows[0]
    }
    const { next_run_at } = await cursor()
    const setZone = (zone: string) => db.pool.query('UPDATE cron_jobs SET timezone = $2 WHERE id = $1', [bad.id, zone])
    await setZone('Mars/Base')
    const expansion = await expandCronJobs(db.pool, { lookAheadMs, limit: 500 })
    expect(expansion.unreadable.map(({ id }) => id)).toEqual([bad.id])
    expect(expansion.tasks.length).toBeGreaterThan(0)
    expect(await tasksOf(bad)).toEqual([])
    expect(await cursor()).toEqual({ next_run_at, isUnreadable: true })
    const ids = [bad.id]
    expect(await expandCronJobs(db.pool, { lookAheadMs, limit: 500, except: ids })).toMatchObject({ jobs: 0 })

    await setZone('UTC')
    await expandCronJobs(db.pool, { lookAheadMs, limit: 500 })
    const [first] = await tasksOf(bad)
    expect(first?.at).toEqual(next_run_at)
    expect(await cursor()).toMatchObject({ isUnreadable: false })
  })

  it.each(['pause', 'change'] as const)('clears unreadable_since after a %s', async what => {
    const job = await create()
    await letTimePass(job, 0)
    await db.pool.query(`UPDATE cron_jobs SET timezone = 'Mars/Base' WHERE id = $1`, [job.id])
    await expandCronJobs(db.pool, { lookAheadMs, limit: 500 })
    if (what === 'pause') await pauseCronJob(db.pool, job.workspaceId, job.id)
    else await changeCronJob(db.pool, job.workspaceId, job.id, { timezone: 'UTC' }, lookAheadMs)
    const { rows } = await db.pool.query('SELECT unreadable_since FROM cron_jobs WHERE id = $1', [job.id])
    expect(rows).toEqual([{ unreadable_since: null }])
  })

  it('skips cron jobs that another transaction holds', async () => {
    const job = await create()
    await letTimePass(job, 0)
    const other = await db.pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT 1 FROM cron_jobs WHERE id = $1 FOR UPDATE', [job.id])
      expect((await expandCronJobs(db.pool, { lookAheadMs, limit: 500 })).jobs).toBe(0)
    } finally {
      await other.query('ROLLBACK')
      other.release()
    }
    expect((await expandCronJobs(db.pool, { lookAheadMs, limit: 500 })).jobs).toBe(1)
  })
})

describe('a change of a cron job', () => {
  it('and a claim of its occurrence exclude each other', async () => {
    for (let round = 0; round < propertyRuns(40); round++) {
      const job = await create()
      const [first] = await tasksOf(job)
      const id = first?.id ?? ''
      await makeDue([id])
      const [, [claim]] = await Promise.all([pauseCronJob(db.pool, job.workspaceId, job.id), claimAll(db.pool, [id])])
      const { state } = await taskRow(db.pool, id)
      expect([claim?.kind, state]).toEqual(
        claim?.kind === 'claimed' ? ['claimed', 'processing'] : [claim?.kind, 'cancelled'],
      )
    }
  })

  it.each(['pause', 'change'] as const)('catches up on more occurrences than one plan has: %s', async what => {
    const job = await create({ catchUp: 'all' })
    await letTimePass(job, 1_100)
    if (what === 'pause') await pauseCronJob(db.pool, job.workspaceId, job.id)
    else await changeCronJob(db.pool, job.workspaceId, job.id, { timezone: 'Asia/Tokyo' }, 0)
    const reasons = (await tasksOf(job)).map(({ reason }) => reason)
    const count = (reason: string | null) => reasons.filter(one => one === reason).length
    // The one of this very minute may not be late yet, and a minute may begin meanwhile.
    expect([100, 101]).toContain(count(what === 'pause' ? 'cronjob_paused' : null))
    expect([1_000, 1_001]).toContain(count('missed'))
  })

  it('makes an occurrence again whose time the new rule keeps', async () => {
    await withinMinute()
    const job = await create()
    const before = (await tasksOf(job)).map(({ at }) => at)
    await changeCronJob(db.pool, job.workspaceId, job.id, { timezone: 'Asia/Tokyo' }, lookAheadMs)
    await pauseCronJob(db.pool, job.workspaceId, job.id)
    await resumeCronJob(db.pool, job.workspaceId, job.id, lookAheadMs)
    const tasks = await tasksOf(job)
    const of = (reason: string | null) => tasks.filter(task => task.reason === reason).map(({ at }) => at)
    expect([of('cronjob_changed'), of('cronjob_paused'), of(null)]).toEqual([before, before, before])
  })

  it.each(['pause and resume', 'change'] as const)(
    'does not bring back an occurrence that its user cancelled: %s',
    async what => {
      await withinMinute()
      const job = await create()
      const [first, second] = await tasksOf(job)
      await endTask(db.pool, job.workspaceId, second?.id ?? '', 'cancel')
      if (what === 'change') {
        await changeCronJob(db.pool, job.workspaceId, job.id, { timezone: 'Asia/Tokyo' }, lookAheadMs)
      } else {
        await pauseCronJob(db.pool, job.workspaceId, job.id)
        await resumeCronJob(db.pool, job.workspaceId, job.id, lookAheadMs)
      }
      const at = async (time: Date | undefined) =>
        (await tasksOf(job)).filter(task => task.at.getTime() === time?.getTime()).map(({ reason }) => reason)
      expect(await at(first?.at)).toHaveLength(2)
      expect(await at(second?.at)).toEqual(['user'])
    },
  )

  it('cancels what a user triggered while it was paused, when it is paused again', async () => {
    const job = await create()
    await pauseCronJob(db.pool, job.workspaceId, job.id)
    const pausedAt = async () =>
      (await db.pool.query('SELECT paused_at AS at FROM cron_jobs WHERE id = $1', [job.id])).rows
    const before = await pausedAt()
    const triggered = await triggerCronJob(db.pool, job.workspaceId, job.id)
    expect(await pauseCronJob(db.pool, job.workspaceId, job.id)).toMatchObject({ kind: 'moved', isChanged: false })
    const cancelled = { state: 'cancelled', state_reason: 'cronjob_paused' }
    expect(await taskRow(db.pool, triggered?.id ?? '')).toMatchObject(cancelled)
    expect(await pausedAt()).toEqual(before)
  })

  it('loses no occurrence that was due at that moment', async () => {
    const job = await create()
    const [first] = await tasksOf(job)
    const dueAt = new Date(Date.now() - 5)
    const text = 'UPDATE tasks SET execute_at = $2, due_at = $2, occurrence_at = $2 WHERE id = $1'
    const dueMinute = new Date(Math.floor(dueAt.getTime() / minuteMs) * minuteMs)
    await db.pool.query(text, [first?.id, dueMinute])
    await changeCronJob(db.pool, job.workspaceId, job.id, { timezone: 'Asia/Tokyo' }, lookAheadMs)
    const replaced = (await tasksOf(job)).filter(({ at }) => at.getTime() === dueMinute.getTime())
    expect(replaced.map(({ reason }) => reason)).toEqual(['cronjob_changed', null])
  })

  it('makes of the past only what waited and the new rule has too, and nothing that its user has moved', async () => {
    await withinMinute()
    const job = await create({ cron: '0 * * * *', catchUp: 'all' })
    await letTimePass(job, 0)
    const text = `UPDATE cron_jobs SET next_run_at = date_trunc('hour', now()) - interval '4 hours' WHERE id = $1`
    await db.pool.query(text, [job.id])
    await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })
    const [, moved, ...kept] = await tasksOf(job)
    const move = `UPDATE tasks SET execute_at = execute_at + interval '1 day', due_at = due_at + interval '1 day' WHERE id = $1`
    await db.pool.query(move, [moved?.id])
    await db.pool.query(`UPDATE cron_jobs SET catch_up = 'latest' WHERE id = $1`, [job.id])
    const past = async () =>
      (await tasksOf(job)).filter(({ at, reason }) => at.getTime() < Date.now() && reason !== 'cronjob_changed')
    const first = (await past())[0]?.at
    const change = (cron: string) => changeCronJob(db.pool, job.workspaceId, job.id, { cron }, lookAheadMs)
    for (const cron of ['*/15 * * * *', '0 * * * *']) {
      await change(cron)
      const made = await past()
      expect(made.map(({ at }) => at)).toEqual([first, ...kept.map(({ at }) => at)])
      expect(new Set(made.map(({ reason }) => reason))).toEqual(new Set([null]))
    }
    await change('59 * * * *')
    expect(await past()).toEqual([])
  })

  it('applies the delay of a schedule to its tasks, and a new delay to those that wait', async () => {
    const qstash = (delayMs?: number) => JSON.stringify({ callerIP: '', ...(delayMs && { delayMs }) })
    const job = await create({ qstash: qstash(90_000) })
    const delays = async () => {
      const text = `
        SELECT (extract(epoch FROM execute_at - occurrence_at) * 1000)::int AS "delayMs", due_at = execute_at AS "isDue"
        FROM tasks WHERE cron_job_id = $1 AND state = 'pending' ORDER BY id`
      const { rows } = await db.pool.query<{ delayMs: number; isDue: boolean }>(text, [job.id])
      expect(rows.length).toBeGreaterThanOrEqual(5)
      return rows.map(({ delayMs, isDue }) => isDue && delayMs)
    }
    expect(new Set(await delays())).toEqual(new Set([90_000]))
    const ids = (await tasksOf(job)).map(({ id }) => id)
    await changeCronJob(db.pool, job.workspaceId, job.id, { qstash: qstash(90_000), payload: '2' }, lookAheadMs)
    expect((await tasksOf(job)).map(({ id }) => id).slice(0, ids.length)).toEqual(ids)
    await changeCronJob(db.pool, job.workspaceId, job.id, { qstash: qstash(1_000) }, lookAheadMs)
    expect(new Set(await delays())).toEqual(new Set([1_000]))
    await changeCronJob(db.pool, job.workspaceId, job.id, { qstash: qstash() }, lookAheadMs)
    expect(new Set(await delays())).toEqual(new Set([0]))
  })

  it('makes an occurrence whose delay has not passed, though its time passed while no scheduler ran', async () => {
    const job = await create({ catchUp: 'none', qstash: JSON.stringify({ callerIP: '', delayMs: 60 * minuteMs }) })
    await letTimePass(job, 30)
    await expandCronJobs(db.pool, { lookAheadMs: 0, limit: 500 })
    const states = (await tasksOf(job)).map(({ state }) => state)
    expect(states.length).toBeGreaterThan(30)
    expect(new Set(states)).toEqual(new Set(['pending']))
  })

  it('returns "unknown" when the workspace has no such cron job', async () => {
    const job = await create()
    const before = await tasksOf(job)
    expect(await pauseCronJob(db.pool, randomUUID(), job.id)).toEqual({ kind: 'unknown' })
    expect(await deleteCronJob(db.pool, randomUUID(), job.id)).toEqual({ kind: 'unknown' })
    expect(await triggerCronJob(db.pool, randomUUID(), job.id)).toBeNull()
    expect(await tasksOf(job)).toEqual(before)
  })
})

describe('overlap', () => {
  it('skip: skips an occurrence only while an earlier one is unfinished', async () => {
    const job = await create({ overlap: 'skip' })
    const ids = (await tasksOf(job)).map(({ id }) => id)
    const [first = '', second = '', third = '', fourth = ''] = ids
    await makeDue(ids)
    expect((await claimAll(db.pool, [first]))[0]?.kind).toBe('claimed')
    expect((await claimAll(db.pool, [second]))[0]?.kind).toBe('gone')
    expect(await taskRow(db.pool, second)).toMatchObject({
      ...{ state: 'cancelled', state_reason: 'overlap_skipped', attempts: 0, run_id: null, lease_until: null },
      finished_at: expect.any(Date),
    })
    await finish(first)
    expect((await claimAll(db.pool, [third]))[0]?.kind).toBe('claimed')
    await db.pool.query(`UPDATE tasks SET state = 'retrying', lease_until = NULL WHERE id = $1`, [third])
    expect((await claimAll(db.pool, [fourth, third])).map(({ kind }) => kind)).toEqual(['gone', 'claimed'])
  })

  it('skip: starts the first of several occurrences that are due in one claim', async () => {
    const job = await create({ overlap: 'skip' })
    const ids = (await tasksOf(job)).map(({ id }) => id)
    await makeDue(ids)
    const claims = await claimAll(db.pool, [...ids].reverse())
    expect(claims.map(({ kind }) => kind)).toEqual([...ids.slice(1).map(() => 'gone'), 'claimed'])
  })

  it('skip: always starts a manual trigger, which counts as unfinished', async () => {
    const job = await create({ overlap: 'skip' })
    const [first = ''] = (await tasksOf(job)).map(({ id }) => id)
    const trigger = await triggerCronJob(db.pool, job.workspaceId, job.id)
    expect((await claimAll(db.pool, [trigger?.id ?? '']))[0]?.kind).toBe('claimed')
    await makeDue([first])
    expect((await claimAll(db.pool, [first]))[0]?.kind).toBe('gone')
    const again = await triggerCronJob(db.pool, job.workspaceId, job.id)
    expect((await claimAll(db.pool, [again?.id ?? '']))[0]?.kind).toBe('claimed')
  })

  it('allow: starts all occurrences', async () => {
    const job = await create()
    const ids = (await tasksOf(job)).map(({ id }) => id)
    await makeDue(ids)
    expect((await claimAll(db.pool, ids)).map(({ kind }) => kind)).toEqual(ids.map(() => 'claimed'))
  })
})
