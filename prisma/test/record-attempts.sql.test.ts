import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ClaimedTask } from '../src/tasks/claimed-row.ts'
import { loseAttempts } from '../src/tasks/lose-attempts.ts'
import { recordAttempts } from '../src/tasks/record-attempts.ts'
import { claimTasks } from './claim-tasks.ts'
import { claimant, claimNew, claimOne, finished, runRows, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

const failure = {
  status: 'failed',
  responseStatus: 500,
  errorCode: 'http_status',
  errorMessage: 'Status 500.',
} as const

describe('recordAttempts', () => {
  it('stores runs and moves their tasks to success, retrying and dead in one statement', async () => {
    const tasks = await Promise.all([claimNew(db.pool), claimNew(db.pool), claimNew(db.pool)])
    const [won, again, lost] = tasks as [ClaimedTask, ClaimedTask, ClaimedTask]
    const recorded = await recordAttempts(db.pool, [
      finished(won, { responseBody: Buffer.from([0, 255, 1]), responseBytes: 3 }),
      finished(again, { ...failure, state: 'retrying', retryDelayMs: 30_000 }),
      finished(lost, { ...failure, state: 'dead' }),
    ])
    expect(recorded.map(row => row && row.dueAt !== null)).toEqual([false, true, false])
    expect(await taskRow(db.pool, won.taskId)).toMatchObject({ state: 'success', lease_until: null, run_id: won.runId })
    expect(await taskRow(db.pool, lost.taskId)).toMatchObject({ state: 'dead', lease_until: null })
    const retrying = await taskRow(db.pool, again.taskId)
    expect(retrying).toMatchObject({ state: 'retrying', finished_at: null, lease_until: null })
    const waitMs = retrying.due_at.getTime() - (recorded[1]?.now?.getTime() ?? 0)
    expect(Math.abs(waitMs - 30_000)).toBeLessThan(100)
    const [run] = await runRows(db.pool, won.taskId)
    expect(run).toMatchObject({ id: won.runId, workspace_id: won.workspaceId, attempt: 1, status: 'success' })
    expect(run.response_body).toEqual(Buffer.from([0, 255, 1]))
  })

  it('keeps every millisecond of the times', async () => {
    const tasks = await Promise.all(Array.from({ length: 64 }, () => claimNew(db.pool)))
    const attempts = tasks.map((task, i) => {
      const scheduledAt = new Date(Date.UTC(1970 + i * 2, 6, 1) + i * 16 + 1)
      const startedAt = new Date(scheduledAt.getTime() + 7)
      return finished(task, { scheduledAt, startedAt, finishedAt: new Date(startedAt.getTime() + 1_001) })
    })
    await recordAttempts(db.pool, attempts)
    for (const { taskId, scheduledAt, startedAt, finishedAt } of attempts) {
      const times = { scheduled_at: scheduledAt, started_at: startedAt, finished_at: finishedAt }
      expect(await runRows(db.pool, taskId)).toMatchObject([times])
    }
  })

  it('stores what a late attempt waited for: the given reason, or its queue before its first attempt', async () => {
    const tasks = await Promise.all([claimNew(db.pool), claimNew(db.pool), claimNew(db.pool), claimNew(db.pool)])
    const [given, queued, punctual, retried] = tasks as [ClaimedTask, ClaimedTask, ClaimedTask, ClaimedTask]
    const ofQueue = [queued, punctual, retried].map(({ taskId }) => taskId)
    await db.pool.query('UPDATE tasks SET queue_id = $1 WHERE id = ANY ($2)', [randomUUID(), ofQueue])
    await db.pool.query('UPDATE tasks SET attempts = 2 WHERE id = $1', [retried.taskId])
    const after = (task: ClaimedTask, ms: number) => new Date(task.executeAt.getTime() + ms)
    await recordAttempts(db.pool, [
      finished(given, { waitedFor: 'slot' }),
      finished(queued, { scheduledAt: after(queued, 1_000) }),
      finished(punctual, { scheduledAt: after(punctual, 999) }),
      finished(retried, { scheduledAt: after(retried, 60_000) }),
    ])
    const runs = await Promise.all(tasks.map(({ taskId }) => runRows(db.pool, taskId)))
    expect(runs.map(([run]) => run.waited_for)).toEqual(['slot', 'queue', null, null])
  })

  it('stores how long the steps of each call took, of a punctual and of a late record', async () => {
    const tasks = await Promise.all([claimNew(db.pool), claimNew(db.pool), claimNew(db.pool), claimNew(db.pool)])
    const [opened, reused, none, late] = tasks as [ClaimedTask, ClaimedTask, ClaimedTask, ClaimedTask]
    await loseAttempts(db.pool, [late], false)
    const timings = { dnsMs: 4, connectMs: 11, tlsMs: 25, firstByteMs: 300_000 }
    await recordAttempts(db.pool, [
      finished(opened, { timings }),
      finished(reused, { timings: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: 42 } }),
      finished(none, { timings: null }),
      finished(late, { timings }),
    ])
    const runs = await Promise.all(tasks.map(({ taskId }) => runRows(db.pool, taskId)))
    const stored = '[4,11,25,300000]'
    expect(runs.map(([run]) => run.timings)).toEqual([stored, '[null,null,null,42]', null, stored])
  })

  it('changes nothing the second time, as after a lost response to the commit', async () => {
    const task = await claimNew(db.pool)
    const attempt = finished(task, { ...failure, state: 'retrying', retryDelayMs: 1 })
    expect(await recordAttempts(db.pool, [attempt])).toHaveLength(1)
    const before = await taskRow(db.pool, task.taskId)
    const other = finished(await claimNew(db.pool))
    expect(await recordAttempts(db.pool, [attempt, other])).toEqual([null, expect.objectContaining({ dueAt: null })])
    expect(await taskRow(db.pool, task.taskId)).toEqual(before)
    expect(await runRows(db.pool, task.taskId)).toHaveLength(1)
  })

  it('rejects the outcome of an attempt whose task was claimed again', async () => {
    const frozen = await claimNew(db.pool)
    await loseAttempts(db.pool, [frozen], false)
    const successor = await claimLost(frozen.taskId)
    expect(successor.attempt).toBe(2)
    expect(await recordAttempts(db.pool, [finished(frozen)])).toEqual([null])
    expect((await taskRow(db.pool, frozen.taskId)).state).toBe('processing')
    expect(await recordAttempts(db.pool, [finished(successor)])).not.toEqual([null])
    const runs = await runRows(db.pool, frozen.taskId)
    expect(runs.map(run => [run.attempt, run.status, run.error_code])).toEqual([
      [1, 'failed', 'worker_lost'],
      [2, 'success', null],
    ])
  })

  it('accepts the outcome of a lost attempt until the next one starts', async () => {
    const [won, failed] = [await claimNew(db.pool), await claimNew(db.pool)]
    await loseAttempts(db.pool, [won, failed], false)
    const retry = { ...failure, state: 'retrying', retryDelayMs: 60_000 } as const
    const recorded = await recordAttempts(db.pool, [finished(won), finished(failed, retry)])
    expect(recorded.map(row => row?.dueAt instanceof Date)).toEqual([false, true])
    const row = await taskRow(db.pool, won.taskId)
    expect(row).toMatchObject({ state: 'success', quarantined: false, lost: 0, attempts: 1 })
    expect(await runRows(db.pool, won.taskId)).toMatchObject([
      { id: won.runId, status: 'success', response_status: 200, error_code: null },
    ])
    expect(await taskRow(db.pool, failed.taskId)).toMatchObject({ state: 'retrying', quarantined: false, lost: 0 })
    expect(await recordAttempts(db.pool, [finished(won)])).toEqual([null])
  })

  it.each(['worker_lost', 'stale_connection'])(
    'counts an attempt that ended as %s as lost: it uses up no retry',
    async errorCode => {
      const task = await claimNew(db.pool)
      const gaveUp = { ...failure, errorCode, state: 'retrying', retryDelayMs: 0 } as const
      await recordAttempts(db.pool, [finished(task, gaveUp)])
      const next = await claimOne(db.pool, task.taskId)
      expect(next).toMatchObject({ attempt: 2, lost: 1 })
    },
  )
})

async function claimLost(taskId: string): Promise<ClaimedTask> {
  await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [taskId])
  const request = { taskId, token: randomUUID() }
  const [claim] = await claimTasks(db.pool, { ...claimant, quarantine: true }, [request])
  if (claim?.kind !== 'claimed') throw new Error(`Not claimed but ${claim?.kind}.`)
  return claim.task
}
