import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultTiers } from '@belfry/domain/tiers'
import { beforeEach, describe, expect, it } from 'vitest'
import { deleteCronJob, pauseCronJob, resumeCronJob } from '../src/cron-jobs/change-cron-job.ts'
import { endDispatcher, leaveDispatchers, recoverStrays } from '../src/dispatchers/end-dispatcher.ts'
import { type DispatcherRow, enterDispatchers, readHeartbeats } from '../src/dispatchers/heartbeat.ts'
import { nameQueue } from '../src/queues/queues.ts'
import type { Claim, ClaimedTask } from '../src/tasks/claimed-row.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { claimQuarantined, countQuarantined, nextQuarantined } from '../src/tasks/quarantine.ts'
import { journalSends, trimJournal } from '../src/tasks/send-journal.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, aWorkspace, claimAll, runRows, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

const retry = { max_retries: 7, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000 }

beforeEach(() => db.pool.query('DELETE FROM tasks; DELETE FROM dispatchers'))

it('a heartbeat does not wait for the end of another dispatcher, whose commit may hang', async () => {
  const dispatcher = await enterDispatchers(db.pool)
  await db.pool.query(`UPDATE dispatching SET seen_at = now() - interval '1 hour'`)
  const seen = async () =>
    (await db.pool.query(`SELECT seen_at > now() - interval '1 minute' AS is FROM dispatching`)).rows[0].is
  const ending = await db.pool.connect()
  try {
    await ending.query('BEGIN')
    await ending.query('UPDATE dispatching SET ended_at = now()')
    expect(await Promise.race([dispatcher.beat(() => []), sleep(3_000, 'waits')])).toContain(dispatcher.id)
    expect(await seen()).toBe(false)
  } finally {
    await ending.query('ROLLBACK')
    ending.release()
  }
  await dispatcher.beat(() => [])
  expect(await seen()).toBe(true)
})

async function store(count: number): Promise<string[]> {
  const tasks = Array.from({ length: count }, () => aTask())
  await insertTasks(db.pool, tasks)
  await sleep(2) // their times were rounded
  return tasks.map(({ id }) => id)
}

async function claim(dispatcher: DispatcherRow, ids: readonly string[], isPrefetch = false): Promise<ClaimedTask[]> {
  const requests = ids.map(taskId => ({ taskId, token: randomUUID(), isPrefetch }))
  const claims = await claimTasks(db.pool, { dispatcherId: dispatcher.id }, requests)
  return claims.flatMap(answer => (answer.kind === 'claimed' ? [answer.task] : []))
}

const send = ({ id: dispatcherId, session }: DispatcherRow, tasks: readonly ClaimedTask[], seq = 1) =>
  journalSends(db.pool, { dispatcherId, session, seq, runIds: tasks.map(({ runId }) => runId) })

async function dueNow(): Promise<void> {
  await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE quarantined`)
}

async function takeQuarantined(dispatcher: DispatcherRow): Promise<Claim | null> {
  const task = await nextQuarantined(db.pool)
  return task && claimQuarantined(db.pool, dispatcher.id, task, defaultTiers)
}

describe('when a dispatcher dies', () => {
  it('its unsent tasks are pending again, uncounted and without a run', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [first = '', second = ''] = await store(2)
    const prefetched = await claim(dispatcher, [first, second], true)
    expect(await send(dispatcher, prefetched.slice(0, 1))).toBe(true)
    const { undone, lost } = await endDispatcher(db.pool, dispatcher.id)
    expect(undone.map(({ taskId }) => taskId)).toEqual([second])
    expect(lost.map(({ taskId }) => taskId)).toEqual([first])
    const row = { state: 'pending', attempts: 0, run_id: null, lease_until: null, quarantined: false, lost: 0 }
    expect(await taskRow(db.pool, second)).toMatchObject(row)
    expect(await runRows(db.pool, second)).toEqual([])
    expect(await runRows(db.pool, first)).toMatchObject([{ attempt: 1, error_code: 'worker_lost' }])
  })

  it('its sent tasks are retried in quarantine, spread over seconds, although no retries are left', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const ids = await store(50)
    await claim(dispatcher, ids)
    const { lost } = await endDispatcher(db.pool, dispatcher.id)
    expect(lost.map(({ state }) => state)).toEqual(Array(50).fill('retrying'))
    const times = lost.map(({ dueAt }) => dueAt.getTime())
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1_000)
    await dueNow()
    expect((await claimAll(db.pool, ids)).map(({ kind }) => kind)).toEqual(Array(50).fill('gone'))
    expect(await countQuarantined(db.pool, 1_000)).toBe(50)
    const successor = await enterDispatchers(db.pool)
    const taken = await takeQuarantined(successor)
    expect(taken).toMatchObject({ kind: 'claimed', task: { attempt: 2, lost: 1 } })
  })

  it('a task dies only after three losses as the only attempt in flight', async () => {
    const shared = await enterDispatchers(db.pool)
    const [poison = '', neighbour = ''] = await store(2)
    await claim(shared, [poison, neighbour])
    await endDispatcher(db.pool, shared.id)
    expect(await taskRow(db.pool, poison)).toMatchObject({ lost: 1, lost_alone: 0 })
    await db.pool.query('DELETE FROM tasks WHERE id = $1', [neighbour])
    for (const [round, expected] of ['retrying', 'retrying', 'dead'].entries()) {
      await dueNow()
      const dispatcher = await enterDispatchers(db.pool)
      expect((await takeQuarantined(dispatcher))?.kind).toBe('claimed')
      await endDispatcher(db.pool, dispatcher.id)
      expect(await taskRow(db.pool, poison)).toMatchObject({ state: expected, lost_alone: round + 1 })
    }
    const runs = await runRows(db.pool, poison)
    expect(runs).toHaveLength(4)
    expect(runs[3].error_message).toContain('lost alone 3 times')
  })

  it('no loss counts as alone, and no claim as unsent, when PostgreSQL has lost the send journal', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [id = ''] = await store(1)
    await claim(dispatcher, [id], true)
    await db.pool.query('DELETE FROM dispatchers; DELETE FROM sends')
    expect(await readHeartbeats(db.pool)).toEqual([{ id: dispatcher.id, beats: null }])
    const { undone, lost } = await endDispatcher(db.pool, dispatcher.id)
    expect([undone.length, lost.length]).toEqual([0, 1])
    expect(await taskRow(db.pool, id)).toMatchObject({ lost: 1, lost_alone: 0, quarantined: true })
  })

  it('the lost tasks of a workspace with few do not wait behind those of one with many', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [of, other] = [await aWorkspace(db.pool), await aWorkspace(db.pool)]
    const [few, ...many] = [other, ...Array<string>(100).fill(of)].map(workspaceId => aTask({ workspaceId }))
    if (few === undefined) throw new Error('There are 101.')
    await insertTasks(db.pool, [few, ...many])
    await sleep(2) // their times were rounded
    await claim(dispatcher, [few.id, ...many.map(({ id }) => id)])
    await endDispatcher(db.pool, dispatcher.id)
    await dueNow()
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [few.id]) // the latest
    const picked = new Set<string>()
    // One of nine is missed by all picks once in 30 million runs.
    for (let i = 0; i < 300; i++) picked.add((await nextQuarantined(db.pool))?.id ?? '')
    expect(picked).toContain(few.id)
    expect(picked.size).toBe(1 + 8) // the oldest of the others
    const refused = { workspaceId: of, origin: 'https://example.com' }
    for (let i = 0; i < 20; i++) expect((await nextQuarantined(db.pool, [refused]))?.id).toBe(few.id)
    await db.pool.query(`UPDATE task_requests SET url = 'https://example.org' WHERE task_id = $1`, [many.at(-1)?.id])
    const both = [refused, { ...refused, workspaceId: other }]
    expect((await nextQuarantined(db.pool, both))?.id).toBe(many.at(-1)?.id)
  })

  it('that has come back meanwhile is not ended, with or without a row before', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [id = ''] = await store(1)
    await claim(dispatcher, [id])
    const beats = async () => (await readHeartbeats(db.pool))[0]?.beats ?? null
    const observed = await beats()
    await dispatcher.beat(() => [])
    for (const before of [observed, null])
      expect(await endDispatcher(db.pool, dispatcher.id, before)).toEqual({ undone: [], lost: [], isEnded: false })
    expect(await taskRow(db.pool, id)).toMatchObject({ state: 'processing', lost: 0 })
    expect(await endDispatcher(db.pool, dispatcher.id, await beats())).toMatchObject({
      isEnded: true,
      lost: [{ taskId: id }],
    })
  })

  it('several schedulers end it once, with more claims than one batch', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const ids = await store(1_001)
    await claim(dispatcher, ids)
    const ends = await Promise.all([1, 2, 3].map(() => endDispatcher(db.pool, dispatcher.id)))
    const lost = ends.flatMap(end => end.lost.map(({ taskId }) => taskId))
    expect(lost.sort()).toEqual(ids.sort())
  })

  it('a task whose callbacks cannot be stored is lost without them, and those beside it with theirs', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const callbacks = JSON.stringify({
      on_attempt: { url: 'https://example.com/', headers: {}, retry, timeout_ms: 1000 },
    })
    const tasks = Array.from({ length: 11 }, () => aTask({ callbacks }))
    await insertTasks(db.pool, tasks)
    await sleep(2)
    const ids = tasks.map(({ id }) => id)
    await claim(dispatcher, ids)
    const bad = ids[3] ?? ''
    await db.pool.query(`UPDATE task_requests SET callbacks = replace(callbacks, '7', '99999') WHERE task_id = $1`, [
      bad,
    ])
    const { lost } = await endDispatcher(db.pool, dispatcher.id)
    expect(lost.map(({ taskId }) => taskId).sort()).toEqual(ids.toSorted())
    const refused = lost.filter(({ refusal }) => refusal !== null)
    expect(refused).toMatchObject([{ taskId: bad, state: 'retrying', refusal: expect.stringContaining('smallint') }])
    expect(await taskRow(db.pool, bad)).toMatchObject({ has_callbacks: false, quarantined: true, lost: 1 })
    const text = 'SELECT callback_of FROM tasks WHERE callback_of = ANY ($1)'
    const { rows } = await db.pool.query<{ callback_of: string }>(text, [ids])
    expect(rows.map(row => row.callback_of).sort()).toEqual(ids.filter(id => id !== bad).sort())
  })

  it('more unsent claims than one batch are undone', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const ids = await store(1_001)
    await claim(dispatcher, ids, true)
    expect((await endDispatcher(db.pool, dispatcher.id)).undone).toHaveLength(1_001)
  })
})

describe('when a dispatcher comes back', () => {
  it('it must not send undone claims, neither in its old session nor in a new one', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [id = ''] = await store(1)
    const prefetched = await claim(dispatcher, [id], true)
    const before = { id: dispatcher.id, session: dispatcher.session } as DispatcherRow
    await endDispatcher(db.pool, dispatcher.id)
    expect(await send(before, prefetched)).toBe(false)
    await dispatcher.beat(() => [])
    expect(dispatcher.session).not.toBe(before.session)
    expect(await send(before, prefetched)).toBe(false)
    const [again] = await claim(dispatcher, [id], true)
    expect(await send(dispatcher, again ? [again] : [])).toBe(true)
  })

  it('it does not send claims that another process is about to undo', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [id = ''] = await store(1)
    const prefetched = await claim(dispatcher, [id], true)
    const scheduler = await db.pool.connect()
    try {
      await scheduler.query('BEGIN')
      await scheduler.query('DELETE FROM dispatchers WHERE id = $1', [dispatcher.id])
      const sending = send(dispatcher, prefetched)
      await sleep(50)
      await scheduler.query('COMMIT')
      expect(await sending).toBe(false)
    } finally {
      scheduler.release()
    }
  })

  it('its sends before a crash of PostgreSQL still count', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const prefetched = await claim(dispatcher, await store(2), true)
    const sent = prefetched.slice(0, 1)
    await send(dispatcher, sent)
    await db.pool.query('TRUNCATE dispatchers, sends')
    await dispatcher.beat(() => sent.map(({ runId }) => runId))
    const { undone, lost } = await endDispatcher(db.pool, dispatcher.id)
    expect(lost.map(({ taskId }) => taskId)).toEqual(sent.map(({ taskId }) => taskId))
    expect(undone).toHaveLength(1)
  })

  it('it is alive while its heartbeat increases', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const beatsOf = async () => (await readHeartbeats(db.pool)).find(({ id }) => id === dispatcher.id)?.beats
    expect(await dispatcher.beat(() => [])).toContain(dispatcher.id)
    expect(await beatsOf()).toBe(1)
  })
})

describe('when a dispatcher shuts down', () => {
  it('its remaining unsent claims are undone', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [one = '', two = ''] = await store(2)
    await claim(dispatcher, [one])
    await claim(dispatcher, [two], true)
    const { undone } = await leaveDispatchers(db.pool, dispatcher.id, () => true)
    expect(undone.map(({ taskId }) => taskId).sort()).toEqual([one, two].sort())
    expect(await taskRow(db.pool, one)).toMatchObject({ state: 'pending', attempts: 0 })
    const other = await enterDispatchers(db.pool)
    expect(await other.beat(() => [])).not.toContain(dispatcher.id)
  })

  it('a sent attempt that it could not record is lost', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const [task] = await claim(dispatcher, await store(1))
    const { undone, lost } = await leaveDispatchers(db.pool, dispatcher.id, runId => runId !== task?.runId)
    expect([undone.length, lost.length]).toEqual([0, 1])
  })
})

it.each([
  ['leaves', leaveDispatchers],
  [
    'recovers strays',
    (pool: typeof db.pool, id: string) =>
      recoverStrays(
        pool,
        id,
        () => false,
        () => false,
      ),
  ],
] as const)('a dispatcher that %s wakes the queues of its claims', async (_, end) => {
  const dispatcher = await enterDispatchers(db.pool)
  const workspaceId = await aWorkspace(db.pool)
  await nameQueue(db.pool, workspaceId, 'q', { maxConcurrent: 2 })
  const [lost, behind] = [aTask({ workspaceId, queue: 'q' }), aTask({ workspaceId, queue: 'q' })]
  await insertTasks(db.pool, [lost, behind])
  await sleep(2)
  expect(await claim(dispatcher, [lost.id])).toHaveLength(1)
  await db.pool.query('UPDATE tasks SET waits_for = 1 WHERE id = $1', [behind.id])
  await end(db.pool, dispatcher.id, () => false)
  expect(await taskRow(db.pool, behind.id)).toMatchObject({ waits_for: 0 })
})

it('ends claims that a live dispatcher does not hold: unsent ones are undone, the others are lost', async () => {
  const dispatcher = await enterDispatchers(db.pool)
  const [held, stray, unrecorded] = await claim(dispatcher, await store(3))
  if (!held || !stray || !unrecorded) throw new Error('Not claimed.')
  const ended = await recoverStrays(
    db.pool,
    dispatcher.id,
    runId => runId === held.runId,
    runId => runId === stray.runId,
  )
  expect(ended.undone.map(({ taskId }) => taskId)).toEqual([stray.taskId])
  expect(ended.lost.map(({ taskId }) => taskId)).toEqual([unrecorded.taskId])
  expect(await taskRow(db.pool, held.taskId)).toMatchObject({ state: 'processing', run_id: held.runId })
})

it('trims the send journal up to the oldest entry that is needed', async () => {
  const dispatcher = await enterDispatchers(db.pool)
  const tasks = await claim(dispatcher, await store(3), true)
  for (const [i, task] of tasks.entries()) await send(dispatcher, [task], i + 1)
  await trimJournal(db.pool, dispatcher.id, 3)
  const { rows } = await db.pool.query('SELECT seq::int FROM sends WHERE dispatcher_id = $1', [dispatcher.id])
  expect(rows).toEqual([{ seq: 3 }])
})

describe('an occurrence of a cron job', () => {
  async function anOccurrence() {
    const workspaceId = await aWorkspace(db.pool)
    const cronJobId = randomUUID()
    await db.pool.query(
      `INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, url, method, max_retries, backoff,
                              base_delay_ms, max_delay_ms, timeout_ms)
       VALUES ($1, $2, 'A', '* * * * *', 'UTC', 'allow', 'none', 'https://example.com', 'POST', 1, 'fixed', 1000, 1000, 1000)`,
      [cronJobId, workspaceId],
    )
    const task = aTask({ workspaceId, source: 'cron' })
    await insertTasks(db.pool, [task])
    await db.pool.query('UPDATE tasks SET cron_job_id = $2, occurrence_at = due_at WHERE id = $1', [task.id, cronJobId])
    await sleep(2)
    return { workspaceId, cronJobId, taskId: task.id }
  }

  it('is not prefetched', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const { taskId } = await anOccurrence()
    const request = { taskId, token: randomUUID(), isPrefetch: true }
    const claimant = { dispatcherId: dispatcher.id }
    expect(await claimTasks(db.pool, claimant, [request])).toEqual([{ kind: 'not_prefetchable' }])
    expect((await claimTasks(db.pool, claimant, [{ ...request, isPrefetch: false }]))[0]?.kind).toBe('claimed')
  })

  it('stays cancelled when its claim is undone after the cron job was paused and resumed', async () => {
    const dispatcher = await enterDispatchers(db.pool)
    const { workspaceId, cronJobId, taskId } = await anOccurrence()
    const claimed = await claim(dispatcher, [taskId])
    await pauseCronJob(db.pool, workspaceId, cronJobId)
    await resumeCronJob(db.pool, workspaceId, cronJobId, 120_000)
    await undoClaims(db.pool, claimed)
    expect(await claimAll(db.pool, [taskId])).toEqual([{ kind: 'gone', refusal: 'cronjob_changed' }])
    const made = `SELECT id FROM tasks WHERE cron_job_id = $1 AND state = 'pending'`
    const { rows } = await db.pool.query<{ id: string }>(made, [cronJobId])
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE cron_job_id = $1`, [cronJobId])
    expect(
      (
        await claimAll(
          db.pool,
          rows.map(({ id }) => id),
        )
      ).map(({ kind }) => kind),
    ).toEqual(rows.map(() => 'claimed'))
    expect(rows.length).toBeGreaterThan(0)
  })

  it.each([
    ['paused', pauseCronJob, 'cronjob_paused'],
    ['deleted', deleteCronJob, 'cronjob_deleted'],
  ] as const)('is cancelled when its claim is undone after the cron job was %s', async (_, change, reason) => {
    const dispatcher = await enterDispatchers(db.pool)
    const { workspaceId, cronJobId, taskId } = await anOccurrence()
    const claimed = await claim(dispatcher, [taskId])
    expect((await change(db.pool, workspaceId, cronJobId)).kind).toBe('moved')
    await undoClaims(db.pool, claimed)
    expect(await taskRow(db.pool, taskId)).toMatchObject({ state: 'pending' })
    expect(await claimAll(db.pool, [taskId])).toEqual([{ kind: 'gone', refusal: reason }])
    expect(await taskRow(db.pool, taskId)).toMatchObject({ state: 'cancelled', state_reason: reason, attempts: 0 })
  })
})
