import { randomUUID } from 'node:crypto'
import type { CatchUp } from '@belfry/domain/cron/plan-occurrences'
import { createTestDatabase } from '@belfry/test-support'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cancelMissed } from '../src/cron-jobs/cancel-missed.ts'
import { createCronJob, type NewCronJob } from '../src/cron-jobs/change-cron-job.ts'
import { expandCronJobs } from '../src/cron-jobs/expand-cron-jobs.ts'
import { endDispatcher, leaveDispatchers } from '../src/dispatchers/end-dispatcher.ts'
import { enterDispatchers } from '../src/dispatchers/heartbeat.ts'
import { openPool, type Pool } from '../src/postgres/pool.ts'
import { installVirtualClock, openVirtualClock } from '../src/virtual-clock/install-virtual-clock.ts'
import { claimAll } from './setup.ts'

const minuteMs = 60_000
const lookAheadMs = 6 * minuteMs
const stoppedAt = Date.parse('2026-11-27T11:59:30Z')

let pool: Pool
let clock: Awaited<ReturnType<typeof openVirtualClock>>
let drop: () => Promise<unknown>
beforeAll(async () => {
  const database = await createTestDatabase()
  await installVirtualClock(database.url)
  pool = openPool(database.url, { max: 4, onError: error => console.error(error) })
  clock = await openVirtualClock(database.url)
  drop = database.drop
})
afterAll(async () => {
  await pool.end()
  await clock.close()
  await drop()
})
beforeEach(async () => {
  await moveTo(stoppedAt)
  await pool.query('UPDATE dispatching SET seen_at = now(), ended_at = now()')
})
afterEach(() => pool.query('DELETE FROM tasks; DELETE FROM cron_jobs; DELETE FROM dispatchers'))

const moveTo = (at: number) => clock.set({ frozenAt: at, shiftMs: 0 })

async function create(changes: Partial<NewCronJob> = {}): Promise<string> {
  const [id, workspaceId, organizationId] = [randomUUID(), randomUUID(), randomUUID()]
  await pool.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $1::uuid::text, 'unicorn')`, [
    organizationId,
  ])
  const workspace = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'Workspace')`
  await pool.query(workspace, [workspaceId, organizationId])
  const job: NewCronJob = {
    ...{ id, workspaceId, name: 'A cron job', cron: '* * * * *', timezone: 'UTC', startsAt: null, endsAt: null },
    ...{
      overlap: 'allow',
      catchUp: 'latest',
      url: 'https://example.com',
      method: 'POST',
      headers: '{}',
      payload: null,
    },
    ...{ maxRetries: 0, backoff: 'fixed', baseDelayMs: 1_000, maxDelayMs: 1_000, timeoutMs: 5_000 },
    ...changes,
  }
  await createCronJob(pool, job, lookAheadMs)
  return id
}

async function expand(): Promise<void> {
  while ((await expandCronJobs(pool, { lookAheadMs, limit: 500 })).hasMore);
}

/** Lets the time of an outage pass, with or without a scheduler. */
async function pass(minutes: number, hasScheduler: boolean): Promise<void> {
  for (let at = stoppedAt; hasScheduler && at < stoppedAt + minutes * minuteMs; at += 5 * minuteMs) {
    await moveTo(at)
    await expand()
  }
  await moveTo(stoppedAt + minutes * minuteMs)
}

/** Claims all due tasks, as a dispatcher does after its start, and returns the times of a cron job's occurrences by their state. */
async function start(jobId: string): Promise<Record<string, string[]>> {
  const due = await pool.query(`SELECT id FROM tasks WHERE state = 'pending' AND due_at <= now() ORDER BY due_at`)
  for (const { id } of due.rows) await claimAll(pool, [id])
  const text = `SELECT coalesce(state_reason, state::text) AS state, occurrence_at AS at FROM tasks
                WHERE cron_job_id = $1 AND occurrence_at <= now() ORDER BY occurrence_at`
  const found: Record<string, string[]> = {}
  for (const { state, at } of (await pool.query(text, [jobId])).rows)
    found[state] = [...(found[state] ?? []), at.toISOString().slice(11, 16)]
  return found
}

const policies: Array<[CatchUp, number]> = [
  ['none', 0],
  ['latest', 1],
  ['all', 100],
]
const outages = [1, 4, 10, 180]
const starts = ['the scheduler ran on', 'the scheduler starts first', 'the dispatcher starts first'] as const
const cases = policies.flatMap(([catchUp, max]) =>
  outages.flatMap(minutes => starts.map(order => ({ catchUp, max, minutes, order }))),
)

describe('after an outage of all dispatchers', () => {
  it.each(cases)(
    'of $minutes min, a minutely job with catch_up $catchUp: $order',
    async ({ catchUp, max, minutes, order }) => {
      const id = await create({ catchUp })
      const dispatcher = await enterDispatchers(pool)
      if (minutes === 4) await leaveDispatchers(pool, dispatcher.id, () => false) // otherwise it was killed
      await pass(minutes, order === 'the scheduler ran on')
      if (order === 'the scheduler starts first') await expand()
      await cancelMissed(pool)
      await enterDispatchers(pool)
      const first = await start(id)
      await expand()
      const { processing: ran = [], missed = [] } = await start(id)
      expect(ran).toHaveLength(Math.min(max, minutes))
      expect(missed).toHaveLength(minutes - ran.length)
      const latest = new Date(stoppedAt + minutes * minuteMs - 30_000).toISOString().slice(11, 16)
      if (max > 0) expect(ran.at(-1)).toBe(latest)
      expect([...missed, ...ran]).toEqual([...missed, ...ran].sort())
      expect(first.processing?.length ?? 0).toBeLessThanOrEqual(ran.length)
    },
  )

  it('a schedule with a delay: an occurrence that is not due yet is not caught up on', async () => {
    const id = await create({ catchUp: 'latest', qstash: JSON.stringify({ callerIP: '', delayMs: 2 * minuteMs }) })
    await enterDispatchers(pool)
    await pass(8, false)
    await cancelMissed(pool)
    await expand()
    const missed = ['12:00', '12:01', '12:02', '12:03', '12:04']
    expect(await start(id)).toEqual({ missed, processing: ['12:05'], pending: ['12:06', '12:07'] })
  })

  it.each(policies)('a daily job with catch_up %s', async (catchUp, max) => {
    const id = await create({ catchUp, cron: '0 12 * * *' })
    await enterDispatchers(pool)
    await pass(4, false)
    await cancelMissed(pool)
    expect(await start(id)).toEqual(max === 0 ? { missed: ['12:00'] } : { processing: ['12:00'] })
  })

  it('lets an occurrence start that was due ten seconds ago', async () => {
    const id = await create({ catchUp: 'none' })
    await moveTo(stoppedAt + 40_000)
    expect(await cancelMissed(pool)).toBe(0)
    await moveTo(stoppedAt + 40_001)
    expect(await cancelMissed(pool)).toBe(1)
    expect(await start(id)).toEqual({ missed: ['12:00'] })
  })

  it('with overlap skip, catches up on the latest one', async () => {
    const id = await create({ overlap: 'skip' })
    await pass(4, false)
    await cancelMissed(pool)
    expect(await start(id)).toEqual({ missed: ['12:00', '12:01', '12:02'], processing: ['12:03'] })
  })

  it('with max_age_ms, catches up on what its deadline allows', async () => {
    const [short, long] = [await create({ maxAgeMs: 20_000 }), await create({ catchUp: 'all', maxAgeMs: 100_000 })]
    await pass(4, false)
    await cancelMissed(pool)
    expect(await start(short)).toEqual({ missed: ['12:00', '12:01', '12:02'], expired: ['12:03'] })
    expect(await start(long)).toEqual({ expired: ['12:00', '12:01'], processing: ['12:02', '12:03'] })
  })
})

it('counts again when a scheduler has planned occurrences meanwhile', async () => {
  const id = await create({ catchUp: 'all' })
  await pass(180, false)
  let hasPlanned = false
  const beside = {
    async query(query: { name?: string }) {
      if (query.name === 'cancel_missed' && !hasPlanned) {
        hasPlanned = true
        await expand()
      }
      return pool.query(query as never)
    },
  } as unknown as Pool
  await cancelMissed(beside)
  expect((await start(id)).processing).toHaveLength(100)
})

describe('after live dispatchers had no heartbeat', () => {
  const live = async () => {
    const { id, beat } = await enterDispatchers(pool, false, null, () => cancelMissed(pool))
    await beat(() => [])
    return { id, beat: () => beat(() => []) }
  }
  const interruptions = policies.flatMap(([catchUp, max]) => [1, 4, 10].map(minutes => ({ catchUp, max, minutes })))

  it.each(interruptions)(
    'for $minutes min, a minutely job with catch_up $catchUp',
    async ({ catchUp, max, minutes }) => {
      const id = await create({ catchUp })
      const dispatchers = [await live(), await live()]
      await pass(minutes, true)
      for (const { beat } of dispatchers) await beat()
      const { processing: ran = [], missed = [] } = await start(id)
      expect(ran).toHaveLength(Math.min(max, minutes))
      expect(missed).toHaveLength(minutes - ran.length)
      expect([...missed, ...ran]).toEqual([...missed, ...ran].sort())
    },
  )

  it('of which a scheduler has ended all', async () => {
    const id = await create({ catchUp: 'none' })
    const dispatcher = await live()
    await pass(4, true)
    await endDispatcher(pool, dispatcher.id)
    await dispatcher.beat()
    expect(await start(id)).toEqual({ missed: ['12:00', '12:01', '12:02', '12:03'] })
  })

  it('while another one had some', async () => {
    const id = await create({ catchUp: 'none' })
    const [frozen, other] = [await live(), await live()]
    for (let seconds = 5; seconds <= 60; seconds += 5) {
      await moveTo(stoppedAt + seconds * 1_000)
      await other.beat()
    }
    await moveTo(stoppedAt + 65_000)
    await frozen.beat()
    expect(await start(id)).toEqual({ processing: ['12:00'] })
  })

  it('for ten seconds, which is no interruption, also when PostgreSQL has lost their rows', async () => {
    const id = await create({ catchUp: 'none' })
    const { beat } = await live()
    for (let seconds = 9; seconds <= 54; seconds += 9) {
      await moveTo(stoppedAt + seconds * 1_000)
      await pool.query('DELETE FROM dispatchers')
      await beat()
    }
    expect(await start(id)).toEqual({ processing: ['12:00'] })
  })

  it('starts the dispatcher once, and shows since when it takes tasks', async () => {
    let starts = 0
    const { id, beat } = await enterDispatchers(pool, false, null, async () => starts++)
    const startedAt = async () => (await pool.query('SELECT started_at FROM dispatchers')).rows[0].started_at.getTime()
    await beat(() => [])
    expect([starts, await startedAt()]).toEqual([1, stoppedAt])
    await moveTo(stoppedAt + minuteMs)
    expect(await beat(() => [])).toEqual([id])
    await beat(() => [])
    expect([starts, await startedAt()]).toEqual([2, stoppedAt + minuteMs])
    await moveTo(stoppedAt + 2 * minuteMs)
    await beat(() => [], false)
    expect(starts).toBe(2)
  })
})

describe('is not missed', () => {
  it('what was due before the dispatchers died', async () => {
    const id = await create({ catchUp: 'none' })
    await pass(3, true)
    await enterDispatchers(pool)
    await moveTo(stoppedAt + 5 * minuteMs)
    await cancelMissed(pool)
    expect(await start(id)).toEqual({ processing: ['12:00', '12:01', '12:02'], missed: ['12:03', '12:04'] })
  })

  const ends: Record<string, (id: string, drain: () => Promise<unknown>) => Promise<unknown>> = {
    'stopped in order': async (id, drain) => {
      await drain()
      await leaveDispatchers(pool, id, () => false)
    },
    'left without a last heartbeat': id => leaveDispatchers(pool, id, () => false),
    'died while it stopped': (_, drain) => drain(),
    'was ended by a scheduler': id => endDispatcher(pool, id),
    'died when PostgreSQL crashed': () => pool.query('TRUNCATE dispatchers'),
  }
  it.each(Object.keys(ends))('what waited before the last dispatcher %s', async how => {
    const id = await create({ catchUp: 'none' })
    const { id: dispatcher, beat } = await enterDispatchers(pool)
    await pass(3, true)
    await beat(() => [])
    await ends[how]?.(dispatcher, () => beat(() => [], false))
    await moveTo(stoppedAt + 5 * minuteMs)
    await cancelMissed(pool)
    expect(await start(id)).toEqual({ processing: ['12:00', '12:01', '12:02'], missed: ['12:03', '12:04'] })
  })

  it('what waited when PostgreSQL crashed some seconds after the last kept heartbeat', async () => {
    const id = await create({ catchUp: 'none' })
    const { beat } = await enterDispatchers(pool)
    for (const seconds of [29, 33]) {
      await moveTo(stoppedAt + seconds * 1_000)
      await beat(() => [])
    }
    await pool.query('TRUNCATE dispatchers')
    await moveTo(stoppedAt + 2 * minuteMs)
    await cancelMissed(pool)
    expect(await start(id)).toEqual({ processing: ['12:00'], missed: ['12:01'] })
  })

  it('what another dispatcher could start', async () => {
    const id = await create({ catchUp: 'none' })
    const { beat } = await enterDispatchers(pool)
    await pass(4, true)
    await beat(() => [])
    expect(await cancelMissed(pool)).toBe(0)
    expect(Object.keys(await start(id))).toEqual(['processing'])
  })

  it('what waits for its queue or for the operator, what has started, and what a user triggers', async () => {
    const ids = [
      await create({ catchUp: 'none' }),
      await create({ catchUp: 'none' }),
      await create({ catchUp: 'none' }),
    ]
    await pass(1, false)
    const change = async (i: number, set: string) =>
      pool.query(`UPDATE tasks SET ${set} WHERE cron_job_id = $1 AND due_at <= now()`, [ids[i]])
    await change(0, 'waits_for = 1')
    await change(1, 'waits_for = 2')
    await change(2, 'occurrence_at = NULL')
    expect(await cancelMissed(pool)).toBe(0)
    await change(0, `waits_for = 0, state = 'retrying', attempts = 1`)
    expect(await cancelMissed(pool)).toBe(0)
  })
})

it('cancels the occurrences of more cron jobs than one statement takes', async () => {
  const id = await create({ catchUp: 'none' })
  await pool.query(
    `WITH jobs AS (
       INSERT INTO cron_jobs SELECT (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid()))).* FROM cron_jobs j
       CROSS JOIN generate_series(1, 1200) RETURNING id
     )
     INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, occurrence_at, cron_job_id)
     SELECT gen_random_uuid(), t.workspace_id, 'cron', t.execute_at, t.execute_at, t.execute_at, jobs.id
     FROM jobs CROSS JOIN tasks t WHERE t.cron_job_id = $1 AND t.execute_at < now() + interval '1 minute'`,
    [id],
  )
  await pass(1, false)
  expect(await cancelMissed(pool)).toBe(1_201)
})
