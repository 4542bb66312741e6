import type { Rules } from './rules.ts'
import { cron, type Operation, plain, type Row, replayed, rowOf, type State, withRow } from './state.ts'
import { cancel, stop } from './statements.ts'
import type { Scope, Visit } from './steps.ts'

const all = 3
const openings = { cancel: 'openCancel', stop: 'openStop', replay: 'openReplay' } as const

/** The steps of bulk operations, one at a time. A page of the walk has one task, and the two come in any order. */
export function operationSteps(rules: Rules, { operations }: Scope, state: State, visit: Visit): void {
  const { operation } = state
  if (operation === null) {
    for (const action of operations) openSteps(rules, state, action, visit)
    return
  }
  visit('cancelOperation', -1, -1, { ...state, operation: null })
  if (operation.isHeld) return
  for (const task of [plain, cron]) {
    const walked = operation.walked | (1 << task)
    if (walked !== operation.walked) visit('walk', -1, task, decided(state, { ...operation, walked }, task))
  }
  if (operation.walked === all) finishStep(rules, state, operation, visit)
}

// `startBulkOperation`. The ids of tasks and operations come from several clocks, so by its id an operation may take none of the
// tasks before it, or those after it, too.
function openSteps({ operationBound }: Rules, state: State, action: Operation['action'], visit: Visit): void {
  const owes = [plain, cron].reduce((mask, task) => mask | (isOpenTo(action, state, task) ? 1 << task : 0), 0)
  if (owes === 0) return
  for (const takes of operationBound === 'created_at' ? [owes] : [owes, 0, all]) {
    const walked = all & ~takes
    visit(openings[action], -1, -1, { ...state, operation: { action, takes, owes, walked, isHeld: false } })
  }
}

// The replay of an occurrence is like that of any other task. A user who replays after a restore wants the call again.
function isOpenTo(action: Operation['action'], state: State, task: number): boolean {
  const row = rowOf(state, task)
  if (action === 'replay') return task === plain && row.state === 'dead' && state.restore !== 'held'
  return row.state === 'pending' || row.state === 'processing' || row.state === 'retrying'
}

/** A step of `stepBulkOperation`, for one task that it has found: ends it, remembers it, or leaves it out. */
function decided(state: State, operation: Operation, task: number): State {
  const bit = 1 << task
  const row = rowOf(state, task)
  const ended = (operation.takes & bit) === 0 ? row : endedBy(operation.action, row)
  const isOpen = ended === row && (isUndecided(operation.action, row) || endedBy(operation.action, row) !== row)
  if (isOpen) return { ...state, operation }
  const left = { ...operation, takes: operation.takes & ~bit, owes: operation.owes & ~bit }
  return withRow({ ...state, operation: left }, task, ended)
}

// The variation looks for prefetched tasks at its end only, and then begins again.
function finishStep({ operationsRemember }: Rules, state: State, operation: Operation, visit: Visit): void {
  const taken = [plain, cron].filter(task => (operation.takes & (1 << task)) !== 0)
  if (!operationsRemember) {
    const isWaiting = taken.some(task => isUndecided(operation.action, rowOf(state, task)))
    const again = isWaiting ? { ...operation, walked: all & ~operation.takes } : null
    visit('finishWalk', -1, -1, { ...state, operation: again })
    return
  }
  let next = state
  for (const task of taken) next = decided(next, next.operation ?? operation, task)
  if (next.operation?.takes === 0) visit('finishWalk', -1, -1, { ...next, operation: null })
  else if (next.operation?.takes !== operation.takes) visit('finishWalk', -1, -1, next)
}

/** The row after the action; the same row if the action does not apply to it. */
export function endedBy(action: Operation['action'], row: Row): Row {
  if (action === 'cancel') return cancel(row)
  if (action === 'stop') return stop(row)
  return row.state === 'dead' ? replayed(row) : row
}

/** Whether the attempt of a prefetched task may start, or the task may wait again. Nothing decides that for a held task. */
export function isUndecided(action: Operation['action'], { state, prefetched, attempts, due }: Row): boolean {
  const isOfAction = action === 'cancel' ? attempts === 1 : action === 'stop' && attempts > 1
  return state === 'processing' && prefetched === 'unsent' && due !== 'held' && isOfAction
}
