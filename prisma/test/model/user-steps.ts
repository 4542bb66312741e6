import type { Rules } from './rules.ts'
import {
  cron,
  freshProcess,
  isFinished,
  plain,
  type Row,
  rowOf,
  type State,
  type Stored,
  stranger,
  withRow,
} from './state.ts'
import { cancel, expand, hold, postpone, release, stop, stopOccurrence } from './statements.ts'
import type { Scope, Visit } from './steps.ts'

/** The steps of users. Refused calls change nothing, so the model omits them. */
export function userSteps(scope: Scope, state: State, visit: Visit): void {
  for (const task of [plain, cron]) {
    const row = rowOf(state, task)
    if (row.state === 'retrying') visit('stop', -1, task, withRow(state, task, stop(row)))
    if (row.state !== 'pending') continue
    visit('cancel', -1, task, withRow(state, task, cancel(row)))
    if (task === plain && row.due === 'due') visit('postpone', -1, task, withRow(state, task, postpone(row)))
  }
  const occurrence = stopOccurrence(rowOf(state, cron))
  if (state.cronJob === 'active') visit('pause', -1, -1, withRow({ ...state, cronJob: 'paused' }, cron, occurrence))
  if (state.cronJob === 'paused' && scope.pausesEnd) visit('resume', -1, -1, { ...state, cronJob: 'active' })
  if (state.cronJob !== 'deleted')
    visit('deleteCronJob', -1, -1, withRow({ ...state, cronJob: 'deleted' }, cron, occurrence))
  if (state.workspace === 'exists') visit('deleteWorkspace', -1, -1, { ...state, workspace: 'deleted' })
}

/** The steps of the operator: one backup, one restore, one release. */
export function operatorSteps(rules: Rules, state: State, visit: Visit): void {
  const { rows, cronJob, workspace, queue, operation, backup } = state
  if (state.restore === 'none' && backup === null)
    visit('backUp', -1, -1, { ...state, backup: { rows, cronJob, workspace, queue, operation } })
  if (state.restore === 'none' && backup !== null) restoreSteps(rules, state, backup, visit)
  if (state.restore === 'held') {
    const released = { ...state, restore: 'released' as const, operation: operation && { ...operation, isHeld: false } }
    visit('release', -1, -1, withRow(withRow(released, plain, release(rows[0])), cron, release(rows[1])))
  }
}

// Tasks that have started since the backup are due. Other tasks may or may not have come due meanwhile. A deadline that has
// passed stays so.
function restoreSteps(rules: Rules, state: State, backup: Stored, visit: Visit): void {
  for (const plainRow of restoredRows(rowOf(backup, plain), rowOf(state, plain))) {
    for (const cronRow of restoredRows(rowOf(backup, cron), rowOf(state, cron))) {
      const isMade = rules.holdsCronJobs && backup.cronJob === 'active' && backup.workspace === 'exists'
      const occurrence = cronRow.due === 'due' && isMade ? expand(cronRow) : cronRow
      visit('restore', -1, -1, {
        ...backup,
        rows: [hold(rules, plainRow), hold(rules, occurrence)],
        operation: backup.operation && { ...backup.operation, isHeld: rules.holdsOperations },
        processes: [freshProcess, freshProcess, freshProcess],
        faults: state.faults,
        backup: null,
        restore: 'held',
        hasReplays: state.hasReplays,
      })
    }
  }
}

function restoredRows(stored: Row, now: Row): Row[] {
  const { startedSinceBackup, expiredSinceBackup } = now
  const isPassed = stored.deadline !== 'none' && (now.deadline === 'passed' || expiredSinceBackup)
  const deadline = isPassed ? 'passed' : stored.deadline
  const prefetched = stored.prefetched === 'journaled' ? 'unsent' : stored.prefetched
  const by = stored.by === null ? null : stranger
  const row = { ...stored, by, prefetched, deadline, startedSinceBackup, expiredSinceBackup } as const
  if (isFinished(row) || row.state === 'processing') return [row]
  const due = { ...row, due: 'due' as const }
  return startedSinceBackup || row.due === 'due' ? [due] : [due, row]
}
