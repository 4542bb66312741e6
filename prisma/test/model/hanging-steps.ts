import type { Rules } from './rules.ts'
import {
  type Hold,
  holdOf,
  nothing,
  plain,
  processOf,
  type Row,
  rowOf,
  type State,
  withHold,
  withRow,
} from './state.ts'
import { claim } from './statements.ts'
import type { Verb, Visit } from './steps.ts'

/** Claims that PostgreSQL has decided, and whose commit hangs: no statement sees them, and their rows are locked. */
export function hangSteps(rules: Rules, state: State, who: number, task: number, isQuarantine: boolean, visit: Visit) {
  if (!rules.commitsHang || state.faults === 0 || isLocked(state, task)) return
  const less = { ...state, faults: state.faults - 1 }
  const isPrefetch = !isQuarantine && task === plain
  for (const [verb, isPrefetched] of [
    ['hang', false],
    ['hangPrefetch', true],
  ] as const) {
    if (isPrefetched && !isPrefetch) continue
    const after = claim(rules, state, task, { by: who, isPrefetch: isPrefetched, isQuarantine })
    if (after.state === 'processing')
      visit(verb, who, task, withHold(less, who, task, { ...nothing, at: 'decided', isPrefetched }))
  }
}

/** The steps of a claim whose commit hangs. In the end it is visible, also if its process has died. */
export function decidedSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const hold = holdOf(state, who, task)
  const row = rowOf(state, task)
  const shown: Row = {
    ...row,
    state: 'processing',
    due: 'due',
    attempts: row.attempts + 1,
    by: who,
    prefetched: hold.isPrefetched ? 'unsent' : 'no',
    executions: row.executions + (row.state === 'pending' ? 1 : 0),
  }
  const isKnown = hold.at === 'decided' && processOf(state, who).is !== 'dead'
  const known: Hold = isKnown ? { ...hold, at: 'claimed', attempt: shown.attempts } : nothing
  visit('show', who, task, withHold(withRow(state, task, shown), who, task, known))
  const isGone = row.deadline === 'passed' && !rules.lockedIsBusy
  if (hold.at === 'decided' && processOf(state, who).is === 'up' && isGone)
    visit('giveUp', who, task, withHold(state, who, task, { ...hold, at: 'forgotten' }))
}

/** Returns whether a step changes a task that such a claim has locked: its statement waits, or skips the task. */
export function waitsForCommit(before: State, verb: Verb, after: State): boolean {
  if (passing.has(verb)) return false
  return before.rows.some((row, task) => row !== after.rows[task] && isLocked(before, task))
}

const passing: ReadonlySet<Verb> = new Set<Verb>(['show', 'comeDue', 'passDeadline', 'stepBack', 'crash'])

function isLocked(state: State, task: number): boolean {
  return state.processes.some((_, who) => ['decided', 'forgotten'].includes(holdOf(state, who, task).at))
}
