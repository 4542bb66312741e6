import type { Report } from './check-history.ts'
import { groupBy } from './group-by.ts'
import type { History, StoredTask } from './history.ts'

/**
 * Checks I14: each outcome of a task has exactly one task for each callback that reports it, and a callback has none itself.
 * The other invariants hold for callbacks as for every task: it is not lost, and its `webhook-id` is its own id.
 */
export function checkCallbacks(history: History, report: Report): void {
  const [runs, moves] = [groupBy(history.runs), groupBy(history.moves)]
  const callbacks = groupBy(
    history.tasks.flatMap(task => (task.callbackOf ? [{ ...task, taskId: task.callbackOf }] : [])),
  )
  for (const task of history.tasks) {
    const own = callbacks.get(task.id) ?? []
    // The late record of a lost attempt ends it a second time.
    const late = (moves.get(task.id) ?? []).filter(({ from, to }) => from === 'retrying' && to !== 'processing').length
    const wanted = {
      on_success: task.state === 'success' ? 1 : 0,
      on_failure: task.state === 'dead' ? 1 : 0,
      on_attempt: (runs.get(task.id) ?? []).length + late,
    }
    for (const [event, count] of Object.entries(wanted)) {
      const expected = task.callbacks.includes(event) ? count : 0
      const stored = own.filter(callback => eventOf(callback) === event).length
      if (stored !== expected) report('I14', task.id, `has ${stored} callbacks ${event} instead of ${expected}`)
    }
  }
}

function eventOf({ name }: StoredTask): string {
  return name.slice(0, name.indexOf(' '))
}
