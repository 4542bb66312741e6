import { describe, expect, it } from 'vitest'
import { type ClaimedTask, expireLeases, type FinishedAttempt, recordAttempts } from '../src/index.ts'
import { claimNew, claimOne, runRows, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

function finished(task: ClaimedTask, changes: Partial<FinishedAttempt> = {}): FinishedAttempt {
  return {
    taskId: task.taskId,
    runId: task.runId,
    state: 'success',
    retryDelayMs: null,
    status: 'success',
    scheduledAt: task.scheduledAt,
    startedAt: task.claimedAt,
    finishedAt: new Date(task.claimedAt.getTime() + 12),
    requestHeaders: '{"webhook-id":"x"}',
    responseStatus: 200,
    responseHeaders: '{}',
    responseBody: Buffer.from([0, 255, 1]),
    responseBytes: 3,
    responseTruncated: false,
    errorCode: null,
    errorMessage: null,
    ...changes,
  }
}

const failure = {
  status: 'failed',
  responseStatus: 500,
  errorCode: 'http_status',
  errorMessage: 'Status 500.',
} as const

async function letLeaseEnd(task: ClaimedTask): Promise<void> {
  await db.pool.query(`UPDATE tasks SET lease_until = now() - interval '1 second' WHERE id = $1`, [task.taskId])
}

describe('recordAttempts', () => {
  it('stores runs and moves their tasks to success, retrying and dead in one statement', async () => {
    const tasks = await Promise.all([claimNew(db.pool), claimNew(db.pool), claimNew(db.pool)])
    const [won, again, lost] = tasks as [ClaimedTask, ClaimedTask, ClaimedTask]
    const recorded = await recordAttempts(db.pool, [
      finished(won),
      finished(again, { ...failure, state: 'retrying', retryDelayMs: 30_000 }),
      finished(lost, { ...failure, state: 'dead' }),
    ])
    expect(recorded.map(row => row?.taskId)).toEqual(tasks.map(task => task.taskId))
    expect(recorded.map(row => row?.dueAt !== null)).toEqual([false, true, false])
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

  it('changes nothing the second time, as after a commit whose answer was lost', async () => {
    const task = await claimNew(db.pool)
    const attempt = finished(task, { ...failure, state: 'retrying', retryDelayMs: 1 })
    expect(await recordAttempts(db.pool, [attempt])).toHaveLength(1)
    const before = await taskRow(db.pool, task.taskId)
    expect(await recordAttempts(db.pool, [attempt])).toEqual([null])
    expect(await taskRow(db.pool, task.taskId)).toEqual(before)
    expect(await runRows(db.pool, task.taskId)).toHaveLength(1)
  })

  it('refuses the outcome of a dispatcher whose task was taken over', async () => {
    const frozen = await claimNew(db.pool)
    await letLeaseEnd(frozen)
    expect(await expireLeases(db.pool, 10)).toMatchObject([{ taskId: frozen.taskId, state: 'retrying' }])
    const successor = await claimOne(db.pool, frozen.taskId)
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
})

describe('expireLeases', () => {
  it('leaves attempts alone whose lease lives', async () => {
    const task = await claimNew(db.pool)
    await expireLeases(db.pool, 100)
    expect((await taskRow(db.pool, task.taskId)).state).toBe('processing')
  })

  it('gives a task another attempt although its retries are used up: the lost one may never have been sent', async () => {
    const task = await claimNew(db.pool, { maxRetries: 0 })
    await letLeaseEnd(task)
    await expireLeases(db.pool, 100)
    expect(await taskRow(db.pool, task.taskId)).toMatchObject({ state: 'retrying' })
    expect((await runRows(db.pool, task.taskId))[0]).toMatchObject({ id: task.runId, error_code: 'worker_lost' })
  })

  it('ends a task that has cost three dispatchers, however many retries remain', async () => {
    let task = await claimNew(db.pool, { maxRetries: 20 })
    for (const expected of ['retrying', 'retrying', 'dead']) {
      await letLeaseEnd(task)
      await expireLeases(db.pool, 100)
      expect((await taskRow(db.pool, task.taskId)).state).toBe(expected)
      if (expected === 'retrying') task = await claimOne(db.pool, task.taskId)
    }
    const runs = await runRows(db.pool, task.taskId)
    expect(runs).toHaveLength(3)
    expect(runs[2].error_message).toContain('not tried again')
  })

  it('does not count the attempts that dispatchers gave up in order against the task', async () => {
    let task = await claimNew(db.pool, { maxRetries: 20 })
    for (let i = 0; i < 4; i++) {
      const gaveUp = { ...failure, errorCode: 'worker_lost', state: 'retrying', retryDelayMs: 0 } as const
      await recordAttempts(db.pool, [finished(task, gaveUp)])
      task = await claimOne(db.pool, task.taskId)
    }
    await letLeaseEnd(task)
    await expireLeases(db.pool, 100)
    expect((await taskRow(db.pool, task.taskId)).state).toBe('retrying')
  })

  it('ends each attempt once when several schedulers look at the same time', async () => {
    const tasks = await Promise.all(Array.from({ length: 20 }, () => claimNew(db.pool)))
    await Promise.all(tasks.map(letLeaseEnd))
    const rounds = await Promise.all([1, 2, 3].map(() => expireLeases(db.pool, 100)))
    const ended = rounds.flat().map(({ taskId }) => taskId)
    expect(ended.sort()).toEqual(tasks.map(({ taskId }) => taskId).sort())
  })
})
