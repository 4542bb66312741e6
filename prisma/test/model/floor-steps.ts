import type { Rules } from './rules.ts'
import { cron, isFinished, isSearched, plain, type Row, rowOf, type State, withRow } from './state.ts'
import type { Visit } from './steps.ts'

/** Time makes due times old, and the floor of the searches rises above old ones that no waiting task has. */
export function floorSteps(state: State, visit: Visit): void {
  for (const task of [plain, cron]) {
    const row = rowOf(state, task)
    const hasBeenDue = row.state !== 'none' && row.due !== 'later' && !isFinished(row)
    if (hasBeenDue && row.age === 'recent') visit('age', -1, task, withRow(state, task, { ...row, age: 'old' }))
    if (hasBeenDue && row.age === 'old' && !isSearched(row))
      visit('raiseFloor', -1, task, withRow(state, task, { ...row, age: 'below the floor' }))
  }
}

/** The trigger `lower_waiting_floor`: lowers the floor to a task that waits below it. */
export function lowered({ floorIsLoweredBy: change }: Rules, before: Row, after: Row): Row {
  if (after === before || after.age !== 'below the floor' || !isSearched(after) || change === 'nothing') return after
  return change === 'any change' || after.state !== before.state ? { ...after, age: 'old' } : after
}
