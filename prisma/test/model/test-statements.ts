import { randomUUID } from 'node:crypto'
import { nextAttempt } from '@belfry/domain/next-attempt'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stepBulkOperation } from '../../src/bulk-operations/step-bulk-operation.ts'
import { deleteCronJob, pauseCronJob } from '../../src/cron-jobs/change-cron-job.ts'
import { expandCronJobs } from '../../src/cron-jobs/expand-cron-jobs.ts'
import { endDispatcher, leaveDispatchers } from '../../src/dispatchers/end-dispatcher.ts'
import { enterDispatchers } from '../../src/dispatchers/heartbeat.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../../src/migrate/held-tasks.ts'
import { windDownWorkspace } from '../../src/purge/wind-down-workspace.ts'
import { changePendingTask, endTask } from '../../src/tasks/change-task.ts'
import { type EndAction, endTasks } from '../../src/tasks/end-tasks.ts'
import { expireTasks } from '../../src/tasks/expire-tasks.ts'
import { poisonLimit } from '../../src/tasks/lose-attempts.ts'
import { type FinishedAttempt, recordAttempts } from '../../src/tasks/record-attempts.ts'
import { journalSends } from '../../src/tasks/send-journal.ts'
import { undoClaims } from '../../src/tasks/undo-claims.ts'
import { claimTasks } from '../claim-tasks.ts'
import { useOwnDatabase } from '../setup.ts'
import { endedBy, isUndecided } from './operation-steps.ts'
import { type EndSituation, type Situation, situationsOf } from './reached.ts'
import { theRules } from './rules.ts'
import type { Question } from './scopes.ts'
import { cron, isFinished, noQueue, quarantineProcess, type Row, type Stored } from './state.ts'
import * as model from './statements.ts'
import {
  expected,
  expectedAfter,
  type Projection,
  project,
  recordLowered,
  type StoredRow,
  storeEnds,
  storeSituations,
} from './stored-rows.ts'
import { testUpkeep } from './test-upkeep.ts'

// A busy machine needs ten times as long as an idle one.
const timeout = 120_000

let db: ReturnType<typeof useOwnDatabase>
const rules = { ...theRules, poisonLimit }
const dispatchers = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
const anHourMs = 3_600_000
let situations: Situation[] = []
let ends: EndSituation[] = []

/** Stores situations, runs a statement on them, and compares the stored rows with those of the model. */
async function compare(
  chosen: readonly Situation[],
  run: (stored: StoredRow[]) => Promise<unknown>,
  says: (situation: Situation) => Row,
): Promise<StoredRow[]> {
  expect(chosen.length).toBeGreaterThan(5)
  const stored = await storeSituations(db.pool, chosen, dispatchers)
  const since = await now()
  expect(differences(stored, await project(db.pool, stored, since), ({ row }) => row)).toEqual([])
  await run(stored)
  expect(differences(stored, await project(db.pool, stored, since), says)).toEqual([])
  return stored
}

async function now(): Promise<Date> {
  return (await db.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now')).rows[0]?.now ?? new Date()
}

function differences(stored: readonly StoredRow[], found: readonly Projection[], says: (situation: Situation) => Row) {
  return stored.flatMap((one, i) => {
    const { task, row, cronJob, workspace } = one
    const wanted = expectedAfter(row, says(one))
    const isEqual = JSON.stringify(found[i]) === JSON.stringify(wanted)
    return isEqual ? [] : [{ before: { task, cronJob, workspace, row }, model: wanted, postgres: found[i] }]
  })
}

/** Removes situations that differ only in fields which the statement does not read. */
function ofRows(chosen: readonly Situation[]): Situation[] {
  const distinct = new Map(chosen.map(({ task, row }) => [`${task} ${JSON.stringify(expected(row))}`, { task, row }]))
  return [...distinct.values()].map(one => ({ ...one, cronJob: 'active', workspace: 'exists' }))
}

function storedOf({ row, cronJob, workspace }: Situation): Stored {
  return { rows: [row, row], cronJob, workspace, queue: noQueue, operation: null }
}

/**
 * Tests that PostgreSQL follows the rules: stores every row that the searches reach, runs a statement of the product on it,
 * and compares the result with the model.
 */
export function testStatements(questions: readonly Question[]): void {
  db = useOwnDatabase()
  describe('PostgreSQL agrees with the model', () => {
    beforeAll(async () => {
      await recordLowered(db.pool)
      ;({ situations, ends } = situationsOf(questions))
    }, timeout)

    beforeEach(() =>
      db.pool.query(
        'TRUNCATE tasks, task_requests, runs, cron_jobs, dispatchers, sends, usage_changes, bulk_operations',
      ),
    )

    it.each([
      ['for a free slot', { by: 0, isPrefetch: false, isQuarantine: false }],
      ['ahead of a slot', { by: 0, isPrefetch: true, isQuarantine: false }],
      ['in quarantine', { by: quarantineProcess, isPrefetch: false, isQuarantine: true }],
    ])('when a task is claimed %s', async (_, claim) => {
      const claimant = { dispatcherId: dispatchers[claim.by] ?? '', quarantine: claim.isQuarantine }
      const { isPrefetch } = claim
      const run = (stored: StoredRow[]) =>
        claimTasks(
          db.pool,
          claimant,
          stored.map(({ taskId }) => ({ taskId, token: randomUUID(), isPrefetch })),
        )
      await compare(situations, run, situation => model.claim(rules, storedOf(situation), situation.task, claim))
    })

    it.each([
      ['at once', undefined, null],
      ['for later', anHourMs, 'later'],
    ] as const)('when its claim is undone, to be claimed %s', async (_, delayMs, due) => {
      const rows = ofRows(situations)
      // All processes have stopped while the operator holds tasks, so none undoes anything then.
      const owned = ({ row }: Situation) => row.by !== null && row.due !== 'held'
      const claims = (stored: StoredRow[]) =>
        stored.map(({ taskId, workspaceId, runId }) => ({ taskId, workspaceId, runId, ...(delayMs && { delayMs }) }))
      await compare(
        rows.filter(owned),
        stored => undoClaims(db.pool, claims(stored)),
        ({ row }) => model.undo(rules, row, row.by ?? Number.NaN, due ?? row.due),
      )
    })

    it('when a claim is undone after another process has claimed the task', async () => {
      const claims = (stored: StoredRow[]) => stored.map(one => ({ ...one, runId: randomUUID() }))
      await compare(
        ofRows(situations),
        stored => undoClaims(db.pool, claims(stored)),
        ({ row }) => row,
      )
    })

    it.each(['success', 'failure', 'abandoned'] as const)(
      'when the outcome of its attempt is recorded: %s',
      async outcome => {
        const owned = ofRows(situations).filter(({ row }) => row.by !== null)
        await compare(
          owned,
          stored =>
            recordAttempts(
              db.pool,
              stored.map(one => finished(one, outcome)),
            ),
          ({ row }) => model.record(rules, row, row.by ?? Number.NaN, row.attempts, outcome),
        )
      },
    )

    it('when an outcome is recorded though the task has been claimed again', async () => {
      const late = (one: StoredRow) => ({ ...finished(one, 'success'), runId: randomUUID() })
      await compare(
        ofRows(situations),
        stored => recordAttempts(db.pool, stored.map(late)),
        ({ row }) => row,
      )
    })

    it.each([0, 2])('when a dispatcher is ended, and each task was lost alone %i times more', async shift => {
      const lostBefore = (row: Row | null) =>
        row && { ...row, lost: row.lost + shift, lostAlone: row.lostAlone + shift }
      const shifted = ends.map(end => ({ ...end, rows: [lostBefore(end.rows[0]), lostBefore(end.rows[1])] as const }))
      const stored = await storeEnds(db.pool, shifted)
      const since = await now()
      for (const { id } of stored) await endDispatcher(db.pool, id)
      for (const { end, rows } of stored) {
        const told = model.endRows(rules, end.rows, end.who, end.hasJournal)
        const some = rows.filter(row => row !== null)
        const says = ({ task }: Situation) => told[task] as Row
        expect(differences(some, await project(db.pool, some, since), says)).toEqual([])
      }
    })

    it('when a dispatcher leaves', async () => {
      const stored = await storeEnds(db.pool, ends)
      const since = await now()
      for (const { id } of stored) await leaveDispatchers(db.pool, id, () => true)
      for (const { end, rows } of stored) {
        const some = rows.filter(row => row !== null)
        const says = ({ row }: Situation) => (row.due === 'held' ? row : model.undo(rules, row, end.who, row.due))
        expect(differences(some, await project(db.pool, some, since), says)).toEqual([])
      }
    })

    it('when a dispatcher enters again after a crash, with its open sends', async () => {
      const dispatcher = await enterDispatchers(db.pool)
      const owned = ofRows(situations).filter(({ row }) => row.by === 0 && row.prefetched === 'unsent')
      const stored = await storeSituations(db.pool, owned, [dispatcher.id, ...dispatchers.slice(1)])
      await db.pool.query('TRUNCATE dispatchers, sends')
      const { session } = dispatcher
      await dispatcher.beat(() => stored.map(({ runId }) => runId))
      expect(dispatcher.session).not.toBe(session)
      expect(
        differences(stored, await project(db.pool, stored, await now()), ({ row }) => model.journal(row, 0)),
      ).toEqual([])
    })

    it('when a prefetched claim is journaled, or its session is over', async () => {
      const dispatcher = await enterDispatchers(db.pool)
      const prefetched = ofRows(situations).filter(({ row }) => row.by === 0 && row.state === 'processing')
      const stored = await storeSituations(db.pool, prefetched, [dispatcher.id, ...dispatchers.slice(1)])
      const runIds = stored.map(({ runId }) => runId)
      const entry = { dispatcherId: dispatcher.id, session: dispatcher.session, seq: 2, runIds }
      const since = await now()
      expect(await journalSends(db.pool, { ...entry, session: randomUUID() })).toBe(false)
      expect(differences(stored, await project(db.pool, stored, since), ({ row }) => row)).toEqual([])
      expect(await journalSends(db.pool, entry)).toBe(true)
      expect(differences(stored, await project(db.pool, stored, since), ({ row }) => model.journal(row, 0))).toEqual([])
    })

    it.each([
      ['cancelled', endAlone('cancel'), model.cancel],
      ['cancelled with others', endOne('cancel'), model.cancel],
      ['stopped', endAlone('stop'), model.stop],
      ['stopped with others', endOne('stop'), model.stop],
      ['moved to a later time', postpone, model.postpone],
    ] as const)('when it is %s', async (_, change, says) => {
      const run = async (stored: StoredRow[]) => {
        for (const { workspaceId, taskId } of stored) await change(db.pool, workspaceId, taskId)
      }
      await compare(ofRows(situations), run, ({ row }) => says(row))
    })

    it.each(['cancel', 'stop'] as const)('when an operation comes to it: %s', async action => {
      const unfinished = ofRows(situations).filter(({ row }) => !isFinished(row))
      const stored = await compare(
        unfinished,
        rows => runOperations(rows, action),
        ({ row }) => endedBy(action, row),
      )
      const text = 'SELECT workspace_id AS id FROM bulk_operations WHERE finished_at IS NULL ORDER BY id'
      const open = (await db.pool.query<{ id: string }>(text)).rows.map(({ id }) => id)
      const undecided = stored.filter(({ row }) => isUndecided(action, row)).map(({ workspaceId }) => workspaceId)
      expect(open.toSorted()).toEqual(undecided.toSorted())
    })

    it.each([
      ['paused', pauseCronJob],
      ['deleted', deleteCronJob],
    ] as const)('when its cron job is %s', async (_, stop) => {
      const occurrences = ofRows(situations).filter(({ task }) => task === cron)
      const run = async (stored: StoredRow[]) => {
        for (const { workspaceId, cronJobId } of stored) await stop(db.pool, workspaceId, cronJobId ?? '')
      }
      await compare(occurrences, run, ({ row }) => model.stopOccurrence(row))
    })

    it('when its deadline has passed', async () => {
      const run = (stored: StoredRow[]) => expireTasks(db.pool, { limit: stored.length })
      await compare(ofRows(situations), run, ({ row }) => model.expire(rules, row))
    })

    it('when its workspace is wound down', async () => {
      const deleted = ofRows(situations).map(situation => ({ ...situation, workspace: 'deleted' as const }))
      const run = async (stored: StoredRow[]) => {
        for (const { workspaceId } of stored) await windDownWorkspace(db.pool, workspaceId)
      }
      await compare(deleted, run, ({ row }) => model.windDown(row))
    })

    it('when overdue tasks are held and released', async () => {
      const unheld = ofRows(situations).filter(({ row }) => row.due !== 'held')
      await compare(
        unheld,
        () => holdOverdueTasks(db.pool),
        ({ row }) => model.hold(rules, row),
      )
      await db.pool.query('TRUNCATE tasks, task_requests, runs, cron_jobs, sends, usage_changes')
      await compare(
        ofRows(situations),
        () => releaseHeldTasks(db.pool),
        ({ row }) => model.release(row),
      )
    })

    testUpkeep(rules, () => ({ pool: db.pool, situations: ofRows(situations), ends }))

    it('when an occurrence is made, and when an overdue one is held', async () => {
      const [made, overdue] = [await storeCronJobDue(30), await storeCronJobDue(-30)]
      const isMade = 'SELECT cron_job_id AS id, state, attempts, waits_for = 2 AS held FROM tasks'
      expect(await holdOverdueTasks(db.pool)).toMatchObject({ tasks: 1 })
      expect((await db.pool.query(isMade)).rows).toEqual([{ id: overdue, state: 'pending', attempts: 0, held: true }])
      await expandCronJobs(db.pool, { lookAheadMs: anHourMs, limit: 10 })
      const { rows } = await db.pool.query(`${isMade} WHERE cron_job_id = $1`, [made])
      expect(rows).toEqual([{ id: made, state: 'pending', attempts: 0, held: false }])
    })
  })
}

/** Stores a cron job whose next occurrence is due in so many seconds, and the one after that in a year. */
async function storeCronJobDue(seconds: number): Promise<string> {
  const row = situations.find(({ task }) => task === cron) as Situation
  const [{ cronJobId } = { cronJobId: null }] = await storeSituations(
    db.pool,
    [{ ...row, cronJob: 'active', workspace: 'exists' }],
    dispatchers,
  )
  await db.pool.query('DELETE FROM tasks WHERE cron_job_id = $1', [cronJobId])
  await db.pool.query(`UPDATE cron_jobs SET next_run_at = now() + $2 * interval '1 second' WHERE id = $1`, [
    cronJobId,
    seconds,
  ])
  return cronJobId ?? ''
}

function endAlone(action: EndAction) {
  return (pool: typeof db.pool, workspaceId: string, taskId: string) => endTask(pool, workspaceId, taskId, action)
}

function endOne(action: EndAction) {
  return (pool: typeof db.pool, workspaceId: string, taskId: string) => endTasks(pool, workspaceId, [taskId], action)
}

/** Runs an operation in the workspace of each row, until it ends or waits. Its id is of a clock that is a day behind. */
async function runOperations(stored: readonly StoredRow[], action: EndAction): Promise<void> {
  const text = `
    INSERT INTO bulk_operations (id, workspace_id, action, filter, total)
    SELECT uuid_v7(now() - interval '1 day'), id, $2::text::bulk_action, '{}', 1 FROM unnest($1::uuid[]) AS id`
  await db.pool.query(text, [stored.map(({ workspaceId }) => workspaceId), action])
  const waiting: string[] = []
  for (;;) {
    const step = await stepBulkOperation(db.pool, 10, waiting)
    if (!step) return
    if (step.isWaiting) waiting.push(step.id)
  }
}

function postpone(pool: typeof db.pool, workspaceId: string, taskId: string) {
  return changePendingTask(pool, workspaceId, taskId, { executeAt: new Date(Date.now() + anHourMs) })
}

export function finished({ row, taskId, runId }: StoredRow, outcome: model.Outcome): FinishedAttempt {
  const lostBefore = row.state === 'retrying' ? row.lost - 1 : row.lost
  const status = outcome === 'success' ? 200 : 500
  const response = { kind: 'response', status, headers: {} } as const
  const next = nextAttempt({
    policy: { maxRetries: rules.maxRetries, backoff: 'fixed', baseDelayMs: anHourMs, maxDelayMs: anHourMs },
    attempt: row.attempts - lostBefore,
    outcome: outcome === 'abandoned' ? { kind: 'failure', code: 'worker_lost' } : response,
    now: new Date(),
    random: Math.random,
  })
  const at = new Date()
  return {
    ...{ taskId, runId, state: next.state, retryDelayMs: next.state === 'retrying' ? next.delayMs : null },
    ...{ status: next.state === 'success' ? 'success' : 'failed', scheduledAt: at, startedAt: at, finishedAt: at },
    ...{ requestHeaders: '{}', responseStatus: status, responseHeaders: null, responseBody: null, responseBytes: null },
    ...{ responseTruncated: false, errorCode: outcome === 'abandoned' ? 'worker_lost' : null, errorMessage: null },
  }
}
