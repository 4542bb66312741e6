import { randomUUID } from 'node:crypto'
import { defaultTiers } from '@belfry/domain/tiers'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { advanceQueues, ratedQueues } from '../../src/queues/advance-queues.ts'
import { changePendingTask } from '../../src/tasks/change-task.ts'
import { claimFromBlocks } from '../../src/tasks/claim-tasks.ts'
import { recordAttempts } from '../../src/tasks/record-attempts.ts'
import { undoClaims } from '../../src/tasks/undo-claims.ts'
import { claimTasks } from '../claim-tasks.ts'
import { useOwnDatabase } from '../setup.ts'
import { explore, queueSituationsOf } from './reached.ts'
import { theRules } from './rules.ts'
import {
  oneAtATime,
  oneInAPeriod,
  ordered,
  type Question,
  queueAndFloor,
  restoredOneAtATime,
  restoredOrder,
  restoredRate,
} from './scopes.ts'
import {
  cron,
  isFinished,
  plain,
  type Queue,
  quarantineProcess,
  type Row,
  rowOf,
  type Stored,
  withRow,
} from './state.ts'
import { advance, type ClaimOf, claimInQueue, moveToQueue, type Outcome, record, undoInQueue } from './statements.ts'
import { expectedAfter, project, recordLowered, type StoredSituation, storeQueues } from './stored-rows.ts'
import { finished } from './test-statements.ts'

// A busy machine needs ten times as long as an idle one.
const timeout = 120_000

const searches: Array<{ name: string; question: Question; states: number }> = [
  { name: 'max_concurrent', question: oneAtATime, states: 9_280 },
  { name: 'max_concurrent, below the floor', question: queueAndFloor, states: 291 },
  { name: 'rate_limit', question: oneInAPeriod, states: 23_016 },
  { name: 'ordered', question: ordered, states: 5_464 },
  { name: 'max_concurrent, restored', question: restoredOneAtATime, states: 9_839 },
  { name: 'rate_limit, restored', question: restoredRate, states: 39_985 },
  { name: 'ordered, restored', question: restoredOrder, states: 4_729 },
]

it.each(searches)('keeps the promise in each of $states states, and can end from each: $name', { timeout }, search => {
  expect(explore(search.question)).toEqual({ states: search.states, violation: null, trace: [] })
})

const db = useOwnDatabase()
beforeAll(() => recordLowered(db.pool))
const dispatchers = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

type Change = { stored: StoredSituation[]; run(): Promise<unknown>; says(before: Stored): Stored }

/** Returns the queues that PostgreSQL left in another state than the model, each with its rows before the statement. */
async function differences({ stored, run, says }: Change) {
  await run()
  // PostgreSQL rounds due times to milliseconds, so one of this moment may be up to half a millisecond ahead.
  const clockText = `SELECT clock_timestamp() + interval '1 millisecond' AS now`
  const { rows: clock } = await db.pool.query<{ now: Date }>(clockText)
  const all = stored.flatMap(({ rows }) => rows)
  const found = new Map(
    (await project(db.pool, all, clock[0]?.now ?? new Date())).map((row, i) => [all[i]?.taskId, row]),
  )
  const text = `SELECT q.id, coalesce((SELECT sum(starts) FROM queue_starts s WHERE s.queue_id = q.id), 0)::int AS starts
                FROM queues q`
  const { rows: counts } = await db.pool.query<{ id: string; starts: number }>(text)
  const starts = new Map(counts.map(row => [row.id, row.starts]))
  return stored.flatMap(({ situation, queueId, rows }) => {
    const after = says(storedOf(situation))
    const executions = after.rows[plain].executions + after.rows[cron].executions
    const wanted = rows.map(({ task, row }) => ({ ...expectedAfter(row, rowOf(after, task)), executions }))
    const seen = rows.map(({ taskId }) => found.get(taskId))
    const isEqual =
      JSON.stringify([seen, starts.get(queueId)]) === JSON.stringify([wanted, after.queue.startedBy === null ? 0 : 1])
    return isEqual ? [] : [{ before: situation, model: wanted, postgres: seen, starts: starts.get(queueId) }]
  })
}

function storedOf({ rows, queue }: StoredSituation['situation']): Stored {
  return { rows, queue, cronJob: 'active', workspace: 'exists', operation: null }
}

/** Claims one task of each queue that the search has reached. */
async function claimOneOfEach(question: Question, task: number, of: ClaimOf): Promise<Change> {
  const reached = queueSituationsOf(question).filter(({ rows }) => rows[task]?.state !== 'none')
  const stored = await storeQueues(db.pool, reached, dispatchers)
  const requests = stored.flatMap(({ rows }) =>
    rows
      .filter(row => row.task === task)
      .map(({ taskId }) => ({ taskId, token: randomUUID(), isPrefetch: of.isPrefetch })),
  )
  const claimant = { dispatcherId: dispatchers[of.by] ?? '', quarantine: of.isQuarantine }
  // Only tasks that `claimFromBlocks` refuses are claimed together with their queue, and those are never prefetched.
  const claimed = (part: typeof requests) =>
    of.isPrefetch
      ? claimFromBlocks(db.pool, claimant, part, defaultTiers)
      : claimTasks(db.pool, claimant, part, defaultTiers)
  return { stored, run: () => inParts(requests, claimed), says: before => claimInQueue(theRules, before, task, of) }
}

async function moveOneOfEach(question: Question, task: number): Promise<Change> {
  const reached = queueSituationsOf(question).filter(({ rows }) => rows[task]?.due === 'blocked')
  const stored = await storeQueues(db.pool, reached, dispatchers)
  const moved = stored.flatMap(({ rows }) => rows.filter(row => row.task === task))
  const run = async () => {
    for (const { workspaceId, taskId } of moved) await changePendingTask(db.pool, workspaceId, taskId, { queue: 'B' })
  }
  return { stored, run, says: before => withRow(before, task, moveToQueue(rowOf(before, task))) }
}

/** Undoes the claim of one task of each queue that the search has reached. */
async function undoOneOfEach(question: Question, task: number): Promise<Change> {
  const isClaimed = ({ state, by, due }: Row) => state === 'processing' && by !== null && due !== 'held'
  const reached = queueSituationsOf(question).filter(({ rows }) => rows.some((row, i) => i === task && isClaimed(row)))
  const stored = await storeQueues(db.pool, reached, dispatchers)
  const claims = stored.flatMap(({ rows }) => rows.filter(row => row.task === task))
  return {
    stored,
    run: () => inParts(claims, part => undoClaims(db.pool, part)),
    says: before => {
      const { by, due } = rowOf(before, task)
      return undoInQueue(theRules, before, task, by ?? Number.NaN, due)
    },
  }
}

/** Records the outcome of one attempt of each queue that the search has reached, or the late one of a lost attempt. */
async function recordOneOfEach(question: Question, task: number, outcome: Outcome): Promise<Change> {
  const reached = queueSituationsOf(question).filter(({ rows }) => rows.some((row, i) => i === task && row.by !== null))
  const stored = await storeQueues(db.pool, reached, dispatchers)
  const attempts = stored.flatMap(({ rows }) => rows.filter(row => row.task === task))
  return {
    stored,
    run: () =>
      inParts(attempts, part =>
        recordAttempts(
          db.pool,
          part.map(one => finished(one, outcome)),
        ),
      ),
    says: before => {
      const row = rowOf(before, task)
      return withRow(before, task, record(theRules, row, row.by ?? Number.NaN, row.attempts, outcome))
    },
  }
}

/** Runs a statement on parts that PostgreSQL handles well within its statement timeout, on a busy machine too. */
async function inParts<T>(all: readonly T[], run: (part: T[]) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < all.length; i += 200) await run(all.slice(i, i + 200))
}

async function advanceEach(question: Question): Promise<Change> {
  const reached = queueSituationsOf(question).filter(({ rows }) => rows.some(row => !isFinished(row)))
  const stored = await storeQueues(db.pool, reached, dispatchers)
  const ids = stored.map(({ queueId }) => queueId)
  const run = async () => {
    await db.pool.query(`UPDATE queues SET advance_at = clock_timestamp() - interval '1 ms'`)
    await inParts(ids, part => advanceQueues(db.pool, part))
    // Otherwise a scheduler wakes it again at once, and without end.
    expect((await db.pool.query(ratedQueues)).rows).toEqual([])
  }
  return { stored, run, says: advance }
}

const claims: Array<[string, ClaimOf]> = [
  ['for a free slot', { by: 0, isPrefetch: false, isQuarantine: false }],
  ['ahead of a slot', { by: 0, isPrefetch: true, isQuarantine: false }],
  ['in quarantine', { by: quarantineProcess, isPrefetch: false, isQuarantine: true }],
]

describe.each(searches)('PostgreSQL agrees with the model of $name', ({ question }) => {
  beforeEach(() =>
    db.pool.query(
      'TRUNCATE tasks, task_requests, runs, cron_jobs, dispatchers, sends, usage_changes, queues, queue_starts',
    ),
  )

  it.each(claims)('when a task is claimed %s', { timeout }, async (_, of) => {
    for (const task of [plain, cron]) {
      const claim = await claimOneOfEach(question, task, of)
      expect(claim.stored.length).toBeGreaterThan(50)
      expect(await differences(claim)).toEqual([])
    }
  })

  it('when the claim of a task is undone', { timeout }, async () => {
    for (const task of [plain, cron]) {
      const change = await undoOneOfEach(question, task)
      expect(change.stored.length).toBeGreaterThan(5)
      expect(await differences(change)).toEqual([])
    }
  })

  it('when the outcome of an attempt is recorded', { timeout }, async () => {
    const change = await recordOneOfEach(question, plain, 'failure')
    expect(change.stored.length).toBeGreaterThan(5)
    expect(await differences(change)).toEqual([])
  })

  it('when the user moves a task to a queue', { timeout }, async () => {
    for (const task of [plain, cron]) {
      const change = await moveOneOfEach(question, task)
      expect(change.stored.length).toBeGreaterThan(5)
      expect(await differences(change)).toEqual([])
    }
  })

  it('when the queue is woken', { timeout }, async () => {
    const change = await advanceEach(question)
    expect(change.stored.length).toBeGreaterThan(50)
    expect(await differences(change)).toEqual([])
  })
})

// Each drops one condition of the product's functions.
const seeded: Array<{ condition: string; name: Queue['limit']; question: Question; from: string; to: string }> = [
  {
    condition: 'the attempts in flight',
    name: 'one at a time',
    question: oneAtATime,
    from: 'permits := permits - used;',
    to: 'NULL;',
  },
  {
    condition: 'the starts of the period',
    name: 'one in a period',
    question: oneInAPeriod,
    from: 'greatest(q.rate_count - used, 0)',
    to: 'q.rate_count',
  },
  {
    condition: 'the pause',
    name: 'one at a time',
    question: oneAtATime,
    from: 'CASE WHEN q.paused_at IS NOT NULL THEN 0 WHEN q.ordered',
    to: 'CASE WHEN q.ordered',
  },
  {
    condition: 'the head',
    name: 'ordered',
    question: ordered,
    from: 'ORDER BY t.execute_at, t.id LIMIT 1;\n        IF EXISTS',
    to: 'ORDER BY t.execute_at DESC, t.id LIMIT 1;\n        IF EXISTS',
  },
  {
    condition: 'the held task in front',
    name: 'ordered',
    question: restoredOrder,
    from: 'permits := 0;\n          head := NULL;',
    to: 'NULL;',
  },
]

describe('the comparison notices a claim without', () => {
  let original = ''
  beforeEach(async () => {
    await db.pool.query('TRUNCATE tasks, task_requests, runs, cron_jobs, usage_changes, queues, queue_starts')
    original = await definition()
  })
  afterEach(() => db.pool.query(original))

  async function definition(): Promise<string> {
    const text = `SELECT pg_get_functiondef('lock_queues(uuid[])'::regprocedure) AS text`
    return (await db.pool.query<{ text: string }>(text)).rows[0]?.text ?? ''
  }

  it.each(seeded)('$condition: $name', { timeout }, async ({ question, from, to }) => {
    expect(original).toContain(from)
    await db.pool.query(original.replace(from, to))
    const found = []
    for (const task of [plain, cron]) {
      const of = { by: 0, isPrefetch: false, isQuarantine: false }
      found.push(...(await differences(await claimOneOfEach(question, task, of))))
    }
    expect(found.length).toBeGreaterThan(0)
  })
})

it('the comparison notices a floor that only a change of the state lowers', { timeout }, async () => {
  const text = `SELECT pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE tgname = 'lower_waiting_floor' AND tgparentid = 0`
  const { rows } = await db.pool.query<{ text: string }>(text)
  const original = rows[0]?.text.replace('CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER') ?? ''
  expect(original).toContain('UPDATE OF state, due_at, waits_for')
  await db.pool.query(original.replace('UPDATE OF state, due_at, waits_for', 'UPDATE OF state'))
  try {
    expect((await differences(await moveOneOfEach(queueAndFloor, plain))).length).toBeGreaterThan(0)
  } finally {
    await db.pool.query(original)
  }
})
