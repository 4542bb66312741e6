import { decidedSteps, hangSteps } from './hanging-steps.ts'
import type { Rules } from './rules.ts'
import {
  freshProcess,
  type Hold,
  holdOf,
  isInDatabase,
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
import { claimInQueue, journal, record, undoInQueue } from './statements.ts'
import type { Visit } from './steps.ts'

/** The steps of a dispatcher or the quarantine process, and of its statements in PostgreSQL. */
export function dispatcherSteps(rules: Rules, state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  for (let task = 0; task < process.holds.length; task++) {
    const hold = holdOf(state, who, task)
    if (hold.at === 'asked') commitSteps(rules, state, who, task, visit)
    if (hold.at === 'decided' || hold.at === 'forgotten') decidedSteps(rules, state, who, task, visit)
    // A process that is cut off from PostgreSQL still sends what it has claimed.
    if (process.is !== 'dead') sendSteps(rules, state, who, task, visit)
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
  if (process.is !== 'up' || (row.due !== 'due' && rules.claimAsksClock)) return
  if (row.quarantined !== isQuarantine && rules.claimKeepsQuarantine) return
  if (row.state !== 'pending' && row.state !== 'retrying') return
  if (isQuarantine && process.holds.some(({ at }) => at !== 'nothing')) return
  const asked: Hold = { ...nothing, at: 'asked' }
  visit('claim', who, task, committed(rules, state, who, task, asked))
  if (!isQuarantine && task === plain)
    visit('prefetch', who, task, committed(rules, state, who, task, { ...asked, isPrefetched: true }))
  hangSteps(rules, state, who, task, isQuarantine, visit)
  if (state.faults === 0) return
  const slow = { ...state, faults: state.faults - 1 }
  visit('claimSlowly', who, task, withHold(slow, who, task, asked))
  if (!isQuarantine && task === plain)
    visit('prefetchSlowly', who, task, withHold(slow, who, task, { ...asked, isPrefetched: true }))
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
  const claimed = claimInQueue(rules, state, task, { by: who, isPrefetch: hold.isPrefetched, isQuarantine })
  const after = rowOf(claimed, task)
  const isClaimed = after !== before && after.state === 'processing'
  const isStart = isClaimed && state.backup !== null
  const marked = isStart ? withRow(claimed, task, { ...after, startedSinceBackup: true }) : claimed
  if (hold.hasOlder) return withHold(marked, who, task, { ...hold, hasOlder: false })
  const isKnown = isClaimed && processOf(state, who).is !== 'dead'
  return withHold(marked, who, task, isKnown ? { ...hold, at: 'claimed', attempt: after.attempts } : nothing)
}

function claimedSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const process = processOf(state, who)
  const hold = holdOf(state, who, task)
  const row = rowOf(state, task)
  const isOfSession = hold.isOfSession || rules.journalNames === 'present session'
  if (needsJournal(rules, hold) && process.isEntered && isOfSession) {
    const journaled: Hold = { ...hold, at: 'journaled', isPrefetched: false }
    visit('journal', who, task, withHold(withRow(state, task, journal(row, who)), who, task, journaled))
  }
  for (const [verb, due] of [
    ['undo', row.due],
    ['undoForLater', 'later'],
  ] as const) {
    visit(verb, who, task, withHold(undoInQueue(rules, state, task, who, due), who, task, nothing))
  }
}

function needsJournal({ sendsNeedJournal }: Rules, { isPrefetched }: Hold): boolean {
  return isPrefetched && sendsNeedJournal
}

// The check and the first byte are one step, except in the variation in which a process may freeze between them.
function sendSteps(rules: Rules, state: State, who: number, task: number, visit: Visit): void {
  const hold = holdOf(state, who, task)
  const isReady = (hold.at === 'claimed' || hold.at === 'journaled') && !needsJournal(rules, hold)
  if (isReady && passesFence(rules, state, who, task)) {
    if (rules.sendIsOneStep) visit('send', who, task, sentOf(state, who, task))
    else visit('check', who, task, withHold(state, who, task, { ...hold, at: 'checked' }))
  }
  if (hold.at === 'checked' && processOf(state, who).is !== 'frozen')
    visit('write', who, task, sentOf(state, who, task))
}

/** `WriteGate.refusal`: the last decision, right before the first byte. The deadline is as of the claim. */
function passesFence(rules: Rules, state: State, who: number, task: number): boolean {
  const { isProven } = processOf(state, who)
  const { isOfSession } = holdOf(state, who, task)
  const isInTime = rowOf(state, task).deadline !== 'passed' || !rules.sendAsksDeadline
  return isInTime && ((isProven && isOfSession) || !rules.sendIsFenced)
}

function sentOf(state: State, who: number, task: number): State {
  const row = rowOf(state, task)
  const { attempt } = holdOf(state, who, task)
  const sent = withRow(state, task, { ...row, sent: row.sent | (1 << attempt) })
  return withHold(sent, who, task, { ...nothing, at: 'sent', attempt })
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
  let next = withProcess(state, who, { ...process, isEntered: true, isProven: true, holds })
  for (let task = 0; task < holds.length; task++) {
    const { at } = holdOf(state, who, task)
    const isLetGo = at === 'journaled' || at === 'checked' || at === 'sent'
    if (isLetGo && rules.entersWithOpenSends) next = withRow(next, task, journal(rowOf(next, task), who))
  }
  visit('enter', who, -1, next)
}

function outOfSession(hold: Hold): Hold {
  return hold.at === 'nothing' || hold.at === 'sent' ? hold : { ...hold, isOfSession: false }
}

// A claim statement may still be in flight when the process exits: its connection broke, and it has no answer.
function leaveStep(state: State, who: number, visit: Visit): void {
  const process = processOf(state, who)
  if (process.holds.some(hold => hold.at !== 'nothing' && !isInDatabase(hold))) return
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
  return state.rows.some(row => row.state === 'processing' && row.by === who) || process.holds.some(isInDatabase)
}
