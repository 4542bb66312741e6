import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { stepBulkOperation } from '../../src/bulk-operations/step-bulk-operation.ts'
import { endDispatcher } from '../../src/dispatchers/end-dispatcher.ts'
import { holdOverdueTasks, releaseHeldTasks } from '../../src/migrate/held-tasks.ts'
import type { Pool } from '../../src/postgres/pool.ts'
import { deleteOldRuns } from '../../src/retention/expire-log.ts'
import { changePendingTask } from '../../src/tasks/change-task.ts'
import { expireTasks } from '../../src/tasks/expire-tasks.ts'
import { openLateSearch } from '../../src/tasks/late-work.ts'
import type { EndSituation, Situation } from './reached.ts'
import type { Rules } from './rules.ts'
import { isFinished, isSearched, plain, type Row } from './state.ts'
import { endRows, record } from './statements.ts'
import { expectedAfter, project, storeEnds, storeSituations } from './stored-rows.ts'

/** What the searches have reached. */
type Reached = { pool: Pool; situations: Situation[]; ends: EndSituation[] }

// A round of the search checks so many workspaces.
const workspacesPerRound = 5_000
const dispatchers = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

/** Tests what schedulers and operators do to many rows at once: the search for late work, the end of the log, a restore. */
export function testUpkeep(rules: Rules, reached: () => Reached): void {
  it('when a search looks for late work in more workspaces than it reads at once', async () => {
    const { pool, situations } = reached()
    const isLate = ({ row }: Situation) => isSearched(row) && !row.quarantined
    const waiting = situations.filter(({ row }) => row.state === 'pending' || row.state === 'retrying')
    const [late, others] = [waiting.filter(isLate), waiting.filter(one => !isLate(one))]
    const many = Array.from({ length: workspacesPerRound + 1_000 }, (_, i) => {
      const half = i % 2 === 0 ? late : others
      return half[i % half.length] as Situation
    })
    await pool.query(`UPDATE waiting_floor SET due_at = '-infinity'`)
    const stored = await storeSituations(pool, many, dispatchers)
    const wanted = stored.filter(isLate).map(({ workspaceId }) => workspaceId)
    expect(wanted.length).toBeGreaterThan(1_000) // otherwise the oldest ones are all
    const search = openLateSearch(pool)
    const found = new Set<string>()
    const { rows } = await pool.query<{ n: number }>('SELECT count(*)::int AS n FROM workspaces')
    for (let read = 0; read < (rows[0]?.n ?? 0); read += workspacesPerRound)
      for (const workspaceId of (await search(3_000)).keys()) found.add(workspaceId)
    expect([...found].toSorted()).toEqual(wanted.toSorted())
  })

  it('when the log expires: nothing unfinished and no dead letter goes', async () => {
    const { pool, situations } = reached()
    const ended = (['success', 'failure'] as const).flatMap(outcome =>
      situations.flatMap(one => {
        const { row } = one
        if (row.state !== 'processing' || row.by === null) return []
        return [{ ...one, row: record({ ...rules, maxRetries: 0 }, row, row.by, row.attempts, outcome) }]
      }),
    )
    const stored = await storeSituations(pool, [...situations, ...ended], dispatchers)
    for (const { workspaceId } of stored) await deleteOldRuns(pool, workspaceId, -1, 10) // it began a moment ago
    const { rows } = await pool.query<{ id: string }>('SELECT id FROM tasks')
    const left = new Set(rows.map(({ id }) => id))
    const kept = stored.filter(({ row }) => !isFinished(row) || row.state === 'dead' || !hasLatestRun(row))
    expect(kept.some(({ row }) => row.state === 'dead' && hasLatestRun(row))).toBe(true)
    expect(kept.length).toBeLessThan(stored.length)
    expect([...left].toSorted()).toEqual(kept.map(({ taskId }) => taskId).toSorted())
  })

  it('when a dispatcher is ended, and PostgreSQL refuses the callbacks of one of its attempts', async () => {
    const { pool, ends } = reached()
    const stored = await storeEnds(
      pool,
      ends.filter(({ rows }) => rows[0] !== null && rows[1] !== null),
    )
    expect(stored.length).toBeGreaterThan(5)
    const refused = stored.map(({ rows }) => rows[plain]?.taskId)
    const unstorable = '{"on_attempt":{"url":"https://example.com/","retry":{"max_retries":99999}}}'
    await pool.query('UPDATE task_requests SET callbacks = $2 WHERE task_id = ANY ($1)', [refused, unstorable])
    const { rows: clock } = await pool.query<{ now: Date }>('SELECT clock_timestamp() AS now')
    for (const { id } of stored) await endDispatcher(pool, id)
    for (const { end, rows } of stored) {
      const told = endRows(rules, end.rows, end.who, end.hasJournal)
      const some = rows.filter(row => row !== null)
      const wanted = some.map(({ task, row }) => ({
        ...expectedAfter(row, told[task] as Row),
        ...(task === plain && { onAttempt: 0, onSuccess: 0, onFailure: 0 }),
      }))
      expect(await project(pool, some, clock[0]?.now ?? new Date())).toEqual(wanted)
    }
  })

  it('when the deadline of a held task passes, and when its queue changes', async () => {
    const { pool, situations } = reached()
    const held = situations.flatMap((one): Situation[] => {
      const isWaiting = one.row.state === 'pending' || one.row.state === 'retrying'
      return isWaiting ? [{ ...one, row: { ...one.row, due: 'held', deadline: 'passed' } }] : []
    })
    const stored = await storeSituations(pool, held, dispatchers)
    await expireTasks(pool, { limit: stored.length })
    for (const { workspaceId, taskId } of stored) await changePendingTask(pool, workspaceId, taskId, { queue: 'B' })
    const unchanged = stored.map(({ row }) => expectedAfter(row, row))
    expect(await project(pool, stored, new Date())).toEqual(unchanged)
  })

  it('when a restore holds open operations, and the operator releases them', async () => {
    const { pool, situations } = reached()
    const actions = ['cancel', 'stop', 'replay', 'discard']
    const stored = await storeSituations(pool, situations.slice(0, actions.length), dispatchers)
    const text = `
      INSERT INTO bulk_operations (id, workspace_id, action, filter, total)
      SELECT gen_random_uuid(), id, action::bulk_action, '{}', 1 FROM unnest($1::uuid[], $2::text[]) AS open (id, action)`
    await pool.query(text, [stored.map(({ workspaceId }) => workspaceId), actions])
    expect(await holdOverdueTasks(pool)).toMatchObject({ operations: actions.length })
    expect(await stepBulkOperation(pool, 10)).toBeNull()
    await releaseHeldTasks(pool)
    for (const _ of actions) expect(await stepBulkOperation(pool, 10)).not.toBeNull()
  })
}

function hasLatestRun({ by, runs, attempts }: Row): boolean {
  return by !== null && (runs & (1 << attempts)) !== 0
}
