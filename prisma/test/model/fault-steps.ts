import {
  cron,
  type Hold,
  isInDatabase,
  nothing,
  plain,
  processOf,
  type Row,
  rowOf,
  type State,
  withProcess,
} from './state.ts'
import type { Visit } from './steps.ts'

/** The faults of a process. A frozen process may only be cut off from PostgreSQL. It continues in the end. */
export function faultSteps(state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  if (process.is === 'frozen') visit('thaw', who, -1, withProcess(state, who, { ...process, is: 'up' }))
  if (process.is === 'dead' || state.faults === 0) return
  const less = { ...state, faults: state.faults - 1 }
  visit(
    'kill',
    who,
    -1,
    withProcess(less, who, {
      ...process,
      is: 'dead',
      isProven: true,
      holds: [left(process.holds[0]), left(process.holds[1])],
    }),
  )
  if (process.is !== 'up') return
  visit('freeze', who, -1, withProcess(less, who, { ...process, is: 'frozen' }))
  visit('terminate', who, -1, withProcess(less, who, { ...process, is: 'draining' }))
}

// After a kill, only statements that have reached PostgreSQL remain.
function left(hold: Hold): Hold {
  return isInDatabase(hold) ? hold : nothing
}

/** PostgreSQL crashes and recovers, with empty unlogged tables: the dispatchers and the send journal. */
export function crashStep(state: State, visit: Visit): void {
  if (state.faults === 0) return
  let next: State = {
    ...state,
    faults: state.faults - 1,
    rows: [unjournaled(rowOf(state, plain)), unjournaled(rowOf(state, cron))],
  }
  for (let who = 0; who < state.processes.length; who++) {
    next = withProcess(next, who, { ...processOf(next, who), isEntered: false })
  }
  visit('crash', -1, -1, next)
}

function unjournaled(row: Row): Row {
  return row.prefetched === 'journaled' ? { ...row, prefetched: 'unsent' } : row
}
