import type { Rules } from './rules.ts'
import {
  freshProcess,
  type Hold,
  holdOf,
  nothing,
  type Process,
  plain,
  processOf,
  quarantineProcess,
  rowOf,
  type State,
  withHold,
  withProcess,
  withRow,
} from './state.ts'
import { claimInQueue, journal, record, undo } from './statements.ts'
import type { Visit } from './steps.ts'

/** The steps of a dispatcher or the quarantine process, and of its statements in PostgreSQL. */
export function dispatcherSteps(rules: Rules, state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  for (let task = 0; task < process.holds.length; task++) {
    const hold = holdOf(state, who, task)
    if (hold.at === 'asked') commitSteps(rules, state, who, task, visit)
    if (process.is !== 'up' && process.is !== 'draining') continue
    if (hold.at === 'nothing') askSteps(rules, state, who, task, visit)
    if (hold.at === 'claimed' || hold.at === 'journaled') claimedSteps(rules, state, who, task, visit)
    if (hold.at === 'sent') sentSteps(rules, state, who, task, visit)
    if (rules.forgetsAfterFault && hold.attempt > 0) visit('forget', who, task, withHold(state, who, task, nothing))
  }
  if (process.is === 'up' && !process.isEntered) enterStep(rules, state, who, visit)
  if (process.is === 'draining') leaveStep(state, who, visit)
}

// A dispatcher claims tasks that it may believe to be waiting. It has one open claim of a task at a time, and the quarantine
// process one task at a time. Only the answer depends on the time of the request, so the request and the commit are one
// step, unless the commit is slow.
function askSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const process = processOf(state, who)
  const row = rowOf(state, task)
  const isQuarantine = who === quarantineProcess
  if (process.is !== 'up' || row.due !== 'due' || row.quarantined !== isQuarantine) return
  if (row.state !== 'pending' && row.state !== 'retrying') return
  if (isQuarantine && process.holds.some(({ at }) => at !== 'nothing')) return
  const asked: Hold = { ...nothing, at: 'asked' }
  const session = process.isEntered ? 'this session' : 'an earlier session'
  visit('claim', who, task, committed(rules, state, who, task, asked))
  if (!isQuarantine && task === plain)
    visit('prefetch', who, task, committed(rules, state, who, task, { ...asked, prefetchedIn: session }))
  if (state.faults === 0) return
  const slow = { ...state, faults: state.faults - 1 }
  visit('claimSlowly', who, task, withHold(slow, who, task, asked))
  if (!isQuarantine && task === plain)
    visit('prefetchSlowly', who, task, withHold(slow, who, task, { ...asked, prefetchedIn: session }))
}

// The statement runs even when its process has died or frozen meanwhile. The statement of a dead process may also be lost.
function commitSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const process = processOf(state, who)
  const hold = holdOf(state, who, task)
  visit(hold.hasOlder ? 'commitOlder' : 'commit', who, task, committed(rules, state, who, task, hold))
  if (process.is === 'dead') visit('vanish', who, task, withHold(state, who, task, nothing))
  // With the same token the dispatcher recognizes its claim, whichever of the two statements runs: nothing changes.
  const mayAskAgain = process.is === 'up' && rules.tokenOfRepeatedClaim === 'new' && !hold.hasOlder
  if (mayAskAgain) visit('askAgain', who, task, withHold(state, who, task, { ...hold, hasOlder: true }))
}

function committed(rules: Rules, state: State, who: number, task: number, hold: Hold): State {
  const before = rowOf(state, task)
  const isQuarantine = who === quarantineProcess
  const claimed = claimInQueue(rules, state, task, { by: who, isPrefetch: hold.prefetchedIn !== null, isQuarantine })
  const after = rowOf(claimed, task)
  const isClaimed = after !== before && after.state === 'processing'
  if (hold.hasOlder) return withHold(claimed, who, task, { ...hold, hasOlder: false })
  const isKnown = isClaimed && processOf(state, who).is !== 'dead'
  return withHold(claimed, who, task, isKnown ? { ...hold, at: 'claimed', attempt: after.attempts } : nothing)
}

function claimedSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const process = processOf(state, who)
  const hold = holdOf(state, who, task)
  const row = rowOf(state, task)
  const needsJournal = hold.prefetchedIn !== null && rules.sendsNeedJournal
  const isOfSession = hold.prefetchedIn === 'this session' || rules.journalNames === 'present session'
  if (needsJournal && process.isEntered && isOfSession) {
    const journaled = withHold(withRow(state, task, journal(row, who)), who, task, {
      ...hold,
      at: 'journaled',
      prefetchedIn: null,
    })
    visit('journal', who, task, journaled)
  }
  if (!needsJournal) {
    const isSinceBackup = state.backup !== null
    const sent = { ...row, sent: row.sent | (1 << hold.attempt), sentSinceBackup: row.sentSinceBackup || isSinceBackup }
    visit(
      'send',
      who,
      task,
      withHold(withRow(state, task, sent), who, task, { ...hold, at: 'sent', prefetchedIn: null }),
    )
  }
  for (const [verb, due] of [
    ['undo', row.due],
    ['undoForLater', 'later'],
  ] as const) {
    visit(verb, who, task, withHold(withRow(state, task, undo(rules, row, who, due)), who, task, nothing))
  }
}

function sentSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const row = rowOf(state, task)
  const { attempt } = holdOf(state, who, task)
  const recorded = (outcome: 'success' | 'failure' | 'abandoned') =>
    withHold(withRow(state, task, record(rules, row, who, attempt, outcome)), who, task, nothing)
  visit('succeed', who, task, recorded('success'))
  visit('fail', who, task, recorded('failure'))
  if (processOf(state, who).is === 'draining') visit('abandon', who, task, recorded('abandoned'))
}

// Its row is gone because a scheduler has ended it, or because PostgreSQL has crashed and lost the journal too. So the same
// statement journals its open sends again.
function enterStep(rules: Rules, state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  const holds = [outOfSession(process.holds[0]), outOfSession(process.holds[1])] as const
  let next = withProcess(state, who, { ...process, isEntered: true, holds })
  for (let task = 0; task < holds.length; task++) {
    const { at } = holdOf(state, who, task)
    const isLetGo = at === 'journaled' || at === 'sent'
    if (isLetGo && rules.entersWithOpenSends) next = withRow(next, task, journal(rowOf(next, task), who))
  }
  visit('enter', who, -1, next)
}

function outOfSession(hold: Hold): Hold {
  return hold.prefetchedIn === null ? hold : { ...hold, prefetchedIn: 'an earlier session' }
}

// A claim statement may still be in flight when the process exits: its connection broke, and it has no answer.
function leaveStep(state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  if (process.holds.some(({ at }) => at !== 'nothing' && at !== 'asked')) return
  const left = withProcess(state, who, { ...process, is: 'dead', isEntered: false })
  visit('leave', who, -1, hasClaims(left, process, who) ? left : renewed(state, who))
}

/** A new process takes the place of `who`. No process can name the claims of the old one any more. */
export function renewed(state: State, who: number): State {
  let next = withProcess(state, who, freshProcess)
  for (let task = 0; task < freshProcess.holds.length; task++) {
    const row = rowOf(next, task)
    if (row.by === who) next = withRow(next, task, { ...row, by: null })
  }
  return next
}

/** Returns whether PostgreSQL still has claims or statements of a process that has ended. */
export function hasClaims(state: State, process: Process, who: number): boolean {
  return (
    state.rows.some(row => row.state === 'processing' && row.by === who) ||
    process.holds.some(({ at }) => at === 'asked')
  )
}
