import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { advanceQueues, advanceRatedQueues, openQueueSearch } from '../src/queues/advance-queues.ts'
import { busiestQueues } from '../src/queues/busiest-queues.ts'
import {
  changeQueue,
  deleteQueue,
  findQueue,
  findQueueLimits,
  listQueues,
  nameQueue,
  pauseQueue,
  type QueueLimits,
} from '../src/queues/queues.ts'
import type { Claim, ClaimedTask } from '../src/tasks/claimed-row.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { loseAttempts } from '../src/tasks/lose-attempts.ts'
import { recordAttempts } from '../src/tasks/record-attempts.ts'
import { waitsForTime } from '../src/tasks/task-row.ts'
import { undoClaims } from '../src/tasks/undo-claims.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, aWorkspace, claimAll, claimant, finished, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

async function aQueue(limits: Partial<QueueLimits>, count: number) {
  const workspaceId = await aWorkspace(db.pool)
  const id = (await nameQueue(db.pool, workspaceId, 'q', limits)) ?? ''
  const tasks = await addTasks(workspaceId, count)
  return { id, workspaceId, tasks }
}

/** Stores tasks of a queue that are due now, each later than the one before. */
async function addTasks(workspaceId: string, count: number, queue = 'q'): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const task = aTask({ workspaceId, queue })
    await insertTasks(db.pool, [task])
    ids.push(task.id)
    await sleep(2)
  }
  return ids
}

const kinds = (claims: Claim[]) => claims.map(({ kind }) => kind)

function claimed(claim: Claim | undefined): ClaimedTask {
  if (claim?.kind !== 'claimed') throw new Error(`Not claimed but ${claim?.kind}.`)
  return claim.task
}

async function record(task: ClaimedTask, state: 'success' | 'dead' | 'retrying' = 'success', retryDelayMs = 0) {
  const status = state === 'success' ? 'success' : 'failed'
  const change = { state, status, retryDelayMs: state === 'retrying' ? retryDelayMs : null } as const
  const [recorded] = await recordAttempts(db.pool, [finished(task, change)])
  expect(recorded).not.toBeNull()
}

/** Returns the tasks that are due now, in order. */
async function dueTasks(queueId: string): Promise<string[]> {
  const text = `SELECT id FROM tasks WHERE queue_id = $1 AND ${waitsForTime} AND due_at <= now()
                ORDER BY execute_at, id`
  await sleep(2) // their times were rounded
  return (await db.pool.query<{ id: string }>(text, [queueId])).rows.map(({ id }) => id)
}

describe('max_concurrent', () => {
  it('starts as many tasks as it says, and the next one when an attempt is recorded', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 2 }, 5)
    const claims = await claimAll(db.pool, tasks)
    expect(kinds(claims)).toEqual(['claimed', 'claimed', 'blocked', 'blocked', 'blocked'])
    expect(claims[2]).toEqual({ kind: 'blocked', queueId: id })
    expect(claimed(claims[0]).queueId).toBe(id)
    expect(await dueTasks(id)).toEqual([])
    expect(await advanceQueues(db.pool, [id])).toBe(0)

    await record(claimed(claims[0]))
    expect(await advanceQueues(db.pool, [id])).toBe(1)
    expect(await dueTasks(id)).toEqual([tasks[2]])
    // The task that is due takes the permit: another call makes no other one due.
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    expect(kinds(await claimAll(db.pool, [tasks[2] ?? '']))).toEqual(['claimed'])
  })

  it('blocks the other due tasks of a full queue together with a refused one', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 1 }, 4)
    await claimAll(db.pool, tasks.slice(0, 2))
    expect(await dueTasks(id)).toEqual([])
    expect(kinds(await claimAll(db.pool, tasks.slice(2)))).toEqual(['blocked', 'blocked'])
  })

  it('lets no later task pass a blocked one', async () => {
    const { id, workspaceId, tasks } = await aQueue({ maxConcurrent: 1 }, 2)
    const [first] = await claimAll(db.pool, tasks)
    await record(claimed(first))
    const [late] = await addTasks(workspaceId, 1)
    expect(kinds(await claimAll(db.pool, [late ?? '']))).toEqual(['blocked'])
    expect(await advanceQueues(db.pool, [id])).toBe(1)
    expect(await dueTasks(id)).toEqual([tasks[1]])
  })

  it('is never exceeded by concurrent claims', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 3 }, 24)
    const started = new Set<string>()
    let inFlight = 0
    let max = 0
    async function dispatcher() {
      for (;;) {
        const due = await dueTasks(id)
        if (due.length === 0 && started.size === tasks.length) return
        const claims = await claimTasks(
          db.pool,
          { dispatcherId: randomUUID() },
          due.map(taskId => ({ taskId, token: randomUUID(), isQueued: true })),
        )
        const mine = claims.flatMap(claim => (claim.kind === 'claimed' ? [claim.task] : []))
        for (const { taskId } of mine) started.add(taskId)
        inFlight += mine.length
        max = Math.max(max, inFlight)
        await sleep(5)
        inFlight -= mine.length // before the record frees the permits
        for (const task of mine) await record(task)
        await advanceQueues(db.pool, [id])
      }
    }
    await Promise.all(Array.from({ length: 4 }, dispatcher))
    expect(started.size).toBe(24)
    expect(max).toBeLessThanOrEqual(3)
  })

  it('frees the permit of an undone claim and of a lost attempt', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 1 }, 3)
    const [first] = await claimAll(db.pool, tasks)
    await undoClaims(db.pool, [claimed(first)])
    const [again] = await claimAll(db.pool, [tasks[0] ?? ''])
    await loseAttempts(db.pool, [claimed(again)], false)
    // A lost task is due again within five seconds, and takes the permit if that is soon.
    await db.pool.query(`UPDATE tasks SET due_at = now() + interval '5 s' WHERE id = $1`, [tasks[0]])
    expect(await advanceQueues(db.pool, [id])).toBe(1)
    expect((await dueTasks(id)).includes(tasks[1] ?? '')).toBe(true)
  })

  it('holds a lost task back too, and keeps the retry delay of its late record', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 1 }, 2)
    const [first] = await claimAll(db.pool, tasks.slice(0, 1))
    await loseAttempts(db.pool, [claimed(first)], false)
    const [other] = await claimAll(db.pool, tasks.slice(1))
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [tasks[0]])
    const request = { taskId: tasks[0] ?? '', token: randomUUID() }
    expect(kinds(await claimTasks(db.pool, { ...claimant, quarantine: true }, [request]))).toEqual(['blocked'])
    await record(claimed(first), 'retrying', 60_000)
    await record(claimed(other))
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    expect(kinds(await claimAll(db.pool, tasks.slice(0, 1)))).toEqual(['early'])
  })

  it('wakes the next task after a claim that ends the awakened one', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 1 }, 3)
    const [first] = await claimAll(db.pool, tasks)
    await db.pool.query('UPDATE tasks SET cron_job_id = $2 WHERE id = $1', [tasks[1], randomUUID()])
    await record(claimed(first))
    await advanceQueues(db.pool, [id])
    expect(await claimAll(db.pool, tasks.slice(1, 2))).toEqual([{ kind: 'gone', refusal: 'cronjob_deleted' }])
    expect(await dueTasks(id)).toEqual(tasks.slice(2))
  })

  it('does not wait for due tasks that no dispatcher starts', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 2 }, 3)
    const claims = await claimAll(db.pool, tasks)
    for (const claim of claims.slice(0, 2)) await record(claimed(claim), 'retrying')
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '3 s' WHERE id = ANY ($1)`, [tasks.slice(0, 2)])
    expect(await advanceQueues(db.pool, [id])).toBe(1)
  })
})

it('advances many queues in several statements, so one moves a bounded number of tasks', async () => {
  const sizes: number[] = []
  const query = (statement: { text: string; values: [string[], number] }) => {
    sizes.push(statement.values[0].length)
    return db.pool.query(statement)
  }
  const ids = Array.from({ length: 45 }, () => randomUUID())
  expect(await advanceQueues({ query } as Parameters<typeof advanceQueues>[0], ids)).toBe(0)
  expect(sizes).toEqual([20, 20, 5])
})

describe('rate_limit', () => {
  // The queues of earlier tests would be counted, too.
  beforeEach(() => db.pool.query('UPDATE queues SET advance_at = NULL'))

  it('starts no more attempts in a period, and places the next ones at the times of their permits', async () => {
    const { id, tasks } = await aQueue({ rateLimit: { count: 2, periodMs: 1_000 } }, 5)
    const claims = await claimAll(db.pool, tasks)
    expect(kinds(claims)).toEqual(['claimed', 'claimed', 'blocked', 'blocked', 'blocked'])
    expect(await advanceQueues(db.pool, [id])).toBe(2)
    const { due_at: dueAt } = await taskRow(db.pool, tasks[2] ?? '')
    const { rows } = await db.pool.query('SELECT at FROM queue_starts WHERE queue_id = $1', [id])
    expect(dueAt.getTime()).toBe(rows[0].at.getTime() + 1_000)
    await sleep(dueAt.getTime() - Date.now() + 20)
    expect(kinds(await claimAll(db.pool, tasks.slice(2, 4)))).toEqual(['claimed', 'claimed'])
  })

  it('leaves a long period to the scheduler', async () => {
    const { id, tasks } = await aQueue({ rateLimit: { count: 1, periodMs: 60_000 } }, 2)
    await claimAll(db.pool, tasks)
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    const text = `SELECT (extract(epoch FROM q.advance_at - s.at) * 1000)::int AS ms
      FROM queues q JOIN queue_starts s ON s.queue_id = q.id WHERE q.id = $1`
    expect((await db.pool.query(text, [id])).rows).toEqual([{ ms: 58_200 }]) // 1.8 seconds ahead
    expect(await advanceRatedQueues(db.pool, 10)).toBe(0)
    await db.pool.query(`UPDATE queue_starts SET at = at - interval '58.5 seconds' WHERE queue_id = $1`, [id])
    await db.pool.query(`UPDATE queues SET advance_at = now() - interval '1 ms' WHERE id = $1`, [id])
    expect(await advanceRatedQueues(db.pool, 10)).toBe(1)
    const { due_at: dueAt } = await taskRow(db.pool, tasks[1] ?? '')
    const { rows } = await db.pool.query('SELECT at FROM queue_starts WHERE queue_id = $1', [id])
    expect(dueAt.getTime()).toBe(rows[0].at.getTime() + 60_000)
  })

  it.each(['it is removed', 'its queue is deleted', 'its workspace is deleted'])(
    'leaves no starts behind when %s',
    async how => {
      const { id, workspaceId, tasks } = await aQueue({ rateLimit: { count: 2, periodMs: 1_000 } }, 1)
      await claimAll(db.pool, tasks)
      const starts = async () => (await db.pool.query('SELECT FROM queue_starts WHERE queue_id = $1', [id])).rowCount
      expect(await starts()).toBe(1)
      if (how === 'it is removed') await changeQueue(db.pool, workspaceId, 'q', { rateLimit: null })
      else {
        await db.pool.query('DELETE FROM tasks WHERE queue_id = $1', [id])
        if (how === 'its queue is deleted') expect(await deleteQueue(db.pool, workspaceId, 'q')).toBe('deleted')
        else await db.pool.query('DELETE FROM workspaces WHERE id = $1', [workspaceId])
      }
      expect(await starts()).toBe(0)
    },
  )

  it('is not looked at again and again while the queue is paused', async () => {
    const { id, workspaceId, tasks } = await aQueue({ rateLimit: { count: 1, periodMs: 3_000 } }, 2)
    await claimAll(db.pool, tasks)
    await pauseQueue(db.pool, workspaceId, 'q', true)
    await db.pool.query(`UPDATE queues SET advance_at = now() - interval '1 s' WHERE id = $1`, [id])
    expect(await advanceRatedQueues(db.pool, 10)).toBe(1)
    expect(await advanceRatedQueues(db.pool, 10)).toBe(0)
    await pauseQueue(db.pool, workspaceId, 'q', false)
    await advanceQueues(db.pool, [id])
    const { rows } = await db.pool.query('SELECT advance_at > now() AS waits FROM queues WHERE id = $1', [id])
    expect(rows).toEqual([{ waits: true }])
  })
})

describe('ordered', () => {
  it('starts one task at a time in order, and waits for its retries', async () => {
    const { id, tasks } = await aQueue({ ordered: true }, 3)
    const claims = await claimAll(db.pool, tasks.toReversed())
    expect(kinds(claims)).toEqual(['blocked', 'blocked', 'claimed'])
    await record(claimed(claims[2]), 'retrying', 60_000)
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [tasks[0]])
    const [retry] = await claimAll(db.pool, [tasks[0] ?? ''])
    await record(claimed(retry), 'dead')
    expect(await advanceQueues(db.pool, [id])).toBe(1)
    expect(await dueTasks(id)).toEqual([tasks[1]])
  })
})

describe('a queue', () => {
  it('lets nothing start while it is paused, and everything afterwards', async () => {
    const { id, workspaceId, tasks } = await aQueue({}, 3)
    expect(await pauseQueue(db.pool, workspaceId, 'q', true)).toEqual({ id, isChanged: true })
    expect(await pauseQueue(db.pool, workspaceId, 'q', true)).toEqual({ id, isChanged: false })
    expect(kinds(await claimAll(db.pool, tasks))).toEqual(['blocked', 'blocked', 'blocked'])
    expect(await advanceQueues(db.pool, [id])).toBe(0)
    expect(await findQueue(db.pool, workspaceId, 'q')).toMatchObject({ waiting: 3, inFlight: 0 })
    await pauseQueue(db.pool, workspaceId, 'q', false)
    expect(await advanceQueues(db.pool, [id])).toBe(3)
    expect(kinds(await claimAll(db.pool, tasks))).toEqual(['claimed', 'claimed', 'claimed'])
  })

  it('without a limit changes nothing', async () => {
    const { tasks } = await aQueue({}, 3)
    const claims = await claimAll(db.pool, tasks)
    expect(kinds(claims)).toEqual(['claimed', 'claimed', 'claimed'])
    expect(claimed(claims[0]).queueId).toBeNull()
  })

  it('blocks 500 other tasks with a refused one, and makes 500 due at a time, of more than 500', async () => {
    const { id, workspaceId } = await aQueue({ maxConcurrent: 1 }, 0)
    const stored = Array.from({ length: 520 }, () => aTask({ workspaceId, queue: 'q' }))
    for (let i = 0; i < stored.length; i += 130) await insertTasks(db.pool, stored.slice(i, i + 130))
    await sleep(50)
    const [first, second, ...others] = await dueTasks(id)
    expect(kinds(await claimAll(db.pool, [first ?? '', second ?? ''])).sort()).toEqual(['blocked', 'claimed'])
    expect(await dueTasks(id)).toHaveLength(520 - 2 - 500)
    // The remaining ones are blocked as soon as one of them is refused.
    const [refused = ''] = await dueTasks(id)
    expect(kinds(await claimAll(db.pool, [refused]))).toEqual(['blocked'])
    expect(await dueTasks(id)).toEqual([])
    expect(others).toHaveLength(518)
    await changeQueue(db.pool, workspaceId, 'q', { maxConcurrent: 1_000 })
    expect(await advanceQueues(db.pool, [id])).toBe(500)
    const due = await dueTasks(id)
    expect(due).toHaveLength(500)
    expect(await advanceQueues(db.pool, [id])).toBe(0) // those that are due are the next to start
    expect(new Set(kinds(await claimAll(db.pool, due)))).toEqual(new Set(['claimed']))
    expect(await advanceQueues(db.pool, [id])).toBe(19)
  })

  it('is found by the search among more than 2,000 queues', async () => {
    const workspaceId = await aWorkspace(db.pool)
    await nameQueue(db.pool, workspaceId, 'q', { maxConcurrent: 1 })
    await db.pool.query(
      `INSERT INTO queues (id, workspace_id, name)
       SELECT uuid_v7(clock_timestamp()), $1, 'many-' || n FROM generate_series(1, 2001) n`,
      [workspaceId],
    )
    const tasks = await addTasks(workspaceId, 2)
    const [first] = await claimAll(db.pool, tasks)
    const { queueId } = claimed(first)
    await record(claimed(first))
    const search = openQueueSearch(db.pool)
    const rounds = [await search(), await search()]
    expect(rounds[1]).toBeGreaterThanOrEqual(1)
    expect(await dueTasks(queueId ?? '')).toEqual([tasks[1]])
  })

  it('is found by the search when its wake-up was lost', async () => {
    const { id, tasks } = await aQueue({ maxConcurrent: 1 }, 2)
    const [first] = await claimAll(db.pool, tasks)
    await record(claimed(first))
    const search = openQueueSearch(db.pool)
    expect((await search()) + (await search())).toBeGreaterThanOrEqual(1) // other tests have more than 2,000 queues
    expect(await dueTasks(id)).toEqual([tasks[1]])
  })

  it('takes new limits from the last writer, and keeps those that are not given', async () => {
    const workspaceId = await aWorkspace(db.pool)
    const limitsOf = async (name: string) => (await findQueueLimits(db.pool, workspaceId, [name, 'none'])).get(name)
    const id = await nameQueue(db.pool, workspaceId, 'a', { maxConcurrent: 3 })
    expect(await nameQueue(db.pool, workspaceId, 'a')).toEqual(id)
    expect(await limitsOf('a')).toMatchObject({ maxConcurrent: 3, ordered: false, pinned: [] })
    expect(await nameQueue(db.pool, workspaceId, 'a', { ordered: true })).toEqual(id)
    expect(await limitsOf('a')).toMatchObject({ maxConcurrent: 3, ordered: true, pinned: [] })
    expect(await changeQueue(db.pool, workspaceId, 'a', { rateLimit: { count: 5, periodMs: 1_000 } })).toBe(id)
    expect(await changeQueue(db.pool, workspaceId, 'b', {})).toBeNull()
    const expected = {
      maxConcurrent: 3,
      ordered: true,
      rateCount: 5,
      ratePeriodMs: 1_000,
      waiting: 0,
      oldestDueMs: null,
    }
    expect(await findQueue(db.pool, workspaceId, 'a')).toMatchObject(expected)
    await nameQueue(db.pool, workspaceId, 'b')
    const names = async (after?: string) =>
      (await listQueues(db.pool, workspaceId, { after, limit: 10 })).map(({ name }) => name)
    expect(await names()).toEqual(['a', 'b'])
    expect(await names('a')).toEqual(['b'])
  })

  it('is deleted only while nothing uses it', async () => {
    const { workspaceId, tasks } = await aQueue({ maxConcurrent: 1 }, 1)
    expect(await deleteQueue(db.pool, workspaceId, 'q', { mayRun: true })).toBe('has_tasks')
    const [claim] = await claimAll(db.pool, tasks)
    expect(await deleteQueue(db.pool, workspaceId, 'q')).toBe('has_tasks')
    await record(claimed(claim))
    expect(await deleteQueue(db.pool, workspaceId, 'q')).toBe('deleted')
    expect(await deleteQueue(db.pool, workspaceId, 'q')).toBe('unknown')
    const [orphan] = await addTasks(workspaceId, 1)
    expect(kinds(await claimAll(db.pool, [orphan ?? '']))).toEqual(['claimed'])
  })

  it('may be deleted below attempts in flight, whose retries then have no limit', async () => {
    const { workspaceId, tasks } = await aQueue({ maxConcurrent: 1 }, 1)
    const [claim] = await claimAll(db.pool, tasks)
    expect(await deleteQueue(db.pool, workspaceId, 'q', { mayRun: true })).toBe('deleted')
    await record(claimed(claim), 'retrying')
    expect(kinds(await claimAll(db.pool, tasks))).toEqual(['claimed'])
  })
})

describe('busiestQueues', () => {
  it('finds the queues with the most blocked tasks', async () => {
    const few = await aQueue({ maxConcurrent: 1 }, 3)
    const many = await aQueue({ maxConcurrent: 1 }, 7)
    await claimAll(db.pool, [...few.tasks, ...many.tasks])
    const mine = (await busiestQueues(db.pool, 100)).filter(({ workspaceId }) =>
      [few.workspaceId, many.workspaceId].includes(workspaceId),
    )
    expect(mine).toMatchObject([
      { workspaceId: many.workspaceId, name: 'q', waiting: 6, inFlight: 1 },
      { workspaceId: few.workspaceId, waiting: 2, inFlight: 1 },
    ])
    expect(mine[0]?.oldestDueSeconds).toBeGreaterThan(0)
    expect(await busiestQueues(db.pool, 1)).toHaveLength(1)
  })
})
