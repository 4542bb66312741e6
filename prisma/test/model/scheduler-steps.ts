import { hasClaims, renewed } from './dispatcher-steps.ts'
import type { Rules } from './rules.ts'
import { cron, plain, processOf, rowOf, type State, stranger, withProcess, withRow } from './state.ts'
import { endDispatcher, expand, expire, lose, windDown } from './statements.ts'
import type { Visit } from './steps.ts'

/** The steps of the scheduler, and of time. */
export function schedulerSteps(rules: Rules, state: State, visit: Visit): void {
  for (let who = 0; who < state.processes.length; who++) deathSteps(rules, state, who, visit)
  if (rules.deathIsSeenBy === 'heartbeats') endStranger(rules, state, visit)
  for (const task of [plain, cron]) {
    const row = rowOf(state, task)
    const isWaiting = row.state === 'pending' || row.state === 'retrying'
    if (isWaiting && row.due === 'later') visit('comeDue', -1, task, withRow(state, task, { ...row, due: 'due' }))
    // Also while it is due later, because it waits for a retry or its claim was undone for some seconds.
    if (row.deadline === 'ahead') visit('passDeadline', -1, task, withRow(state, task, { ...row, deadline: 'passed' }))
    if (isWaiting && row.deadline === 'passed') visit('expire', -1, task, withExpired(rules, state, task))
    if (isWaiting && row.due === 'due')
      visit('stepBack', -1, task, withRow(state, task, { ...row, due: 'later', age: 'recent' }))
  }
  if (state.cronJob === 'active' && state.workspace === 'exists' && rowOf(state, cron).state === 'none') {
    visit('expand', -1, -1, withRow(state, cron, expand(rowOf(state, cron))))
  }
  if (state.workspace === 'deleted') {
    const wound = withRow(withRow(state, plain, windDown(rowOf(state, plain))), cron, windDown(rowOf(state, cron)))
    visit('windDown', -1, -1, wound)
  }
}

function withExpired(rules: Rules, state: State, task: number): State {
  const row = rowOf(state, task)
  const expired = expire(rules, row)
  const isSinceBackup = expired !== row && state.backup !== null
  return withRow(state, task, isSinceBackup ? { ...expired, expiredSinceBackup: true } : expired)
}

// The heartbeats of a process stop when it dies, or for as long as it is frozen. The scheduler misses them for 12 s, so the
// process has no heartbeat of the last 10 s then. The journal is known while its row is there. A claim that runs after the
// end of its dispatcher is found later, and the dispatcher is ended again.
function deathSteps(rules: Rules, state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  const isSilent = process.is === 'dead' || process.is === 'frozen'
  const owns = state.rows.some(row => row.state === 'processing' && row.by === who && row.due !== 'held')
  if (rules.deathIsSeenBy === 'leases') endLeases(rules, state, who, visit)
  else if (isSilent && (process.isEntered || owns)) {
    const isProven = process.isProven && (process.is === 'dead' || rules.deathIsSeenBeforeFence)
    const ended = withProcess(state, who, { ...process, isEntered: false, isProven })
    visit('declareDead', who, -1, endDispatcher(rules, ended, who, process.isEntered))
  }
  if (process.is === 'dead' && !process.isEntered && !hasClaims(state, process, who)) {
    visit('start', who, -1, renewed(state, who))
  }
}

// Only in a variation. A lease is over when its time has passed, or when PostgreSQL's clock steps forward.
function endLeases(rules: Rules, state: State, who: number, visit: Visit): void {
  for (const task of [plain, cron]) {
    const row = rowOf(state, task)
    if (row.state !== 'processing' || row.by !== who) continue
    visit('endLease', who, task, withRow(state, task, lose(rules, row, false)))
  }
}

function endStranger(rules: Rules, state: State, visit: Visit): void {
  if (!state.rows.some(row => row.state === 'processing' && row.by === stranger && row.due !== 'held')) return
  visit('declareDead', stranger, -1, endDispatcher(rules, state, stranger, false))
}
