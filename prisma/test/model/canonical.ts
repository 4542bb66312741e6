import type { Hold, Operation, Process, Queue, Row, State, Stored } from './state.ts'

/**
 * Returns a text that is equal for equal states. The dispatchers A and B follow the same rules, so two states that differ
 * only in their names have the same text, and equal successors.
 */
export function canonicalText(state: State): string {
  const [a, b, q] = [packProcess(state.processes[0]), packProcess(state.processes[1]), packProcess(state.processes[2])]
  if (a < b) return textOf(state, a, b, q, false)
  if (a > b) return textOf(state, b, a, q, true)
  return [textOf(state, a, b, q, false), textOf(state, b, a, q, true)].sort()[0] ?? ''
}

function textOf(state: State, one: number, two: number, q: number, isMirrored: boolean): string {
  const row = packRow(state.rows[0], isMirrored)
  const other = packRow(state.rows[1], isMirrored)
  const settings =
    ((state.faults * 3 + restores[state.restore]) * 6 + packSettings(state)) * 12 + packQueue(state.queue)
  const extras = packExtras(state, state.hasReplays)
  const text = String.fromCharCode(
    settings,
    extras,
    packOperation(state.operation),
    row,
    row >>> 16,
    other,
    other >>> 16,
    one,
    one >>> 16,
    two,
    two >>> 16,
    q,
    q >>> 16,
  )
  if (state.backup === null) return text
  const [kept, keptOther] = [packRow(state.backup.rows[0], isMirrored), packRow(state.backup.rows[1], isMirrored)]
  const backedUp = packSettings(state.backup) * 12 + packQueue(state.backup.queue)
  const [backedUpExtras, operation] = [
    packExtras(state.backup, state.hasReplays),
    packOperation(state.backup.operation),
  ]
  return text + String.fromCharCode(backedUp, backedUpExtras, operation, kept, kept >>> 16, keptOther, keptOther >>> 16)
}

// All final states are equal here. See `packExtras`.
const rowStates = { none: 0, pending: 1, processing: 2, retrying: 3, success: 4, dead: 4, cancelled: 4 } as const
const dues = { later: 0, due: 1, held: 2, blocked: 3 } as const
const ages = { recent: 0, old: 1, 'below the floor': 2 } as const
const deadlines = { none: 0, ahead: 1, passed: 2 } as const
const prefetches = { no: 0, unsent: 1, journaled: 2 } as const
const restores = { none: 0, held: 1, released: 2 } as const
const cronJobs = { active: 0, paused: 1, deleted: 2 } as const
const actions = { cancel: 0, stop: 1, replay: 2 } as const
const lives = { up: 0, frozen: 1, draining: 2, dead: 3 } as const
const places = {
  nothing: 0,
  asked: 1,
  claimed: 2,
  journaled: 3,
  sent: 4,
  checked: 5,
  decided: 6,
  forgotten: 7,
} as const

function packSettings({ cronJob, workspace }: Stored): number {
  return cronJobs[cronJob] * 2 + (workspace === 'deleted' ? 1 : 0)
}

// The limit is the same in all states of a search.
function packQueue({ isPaused, startedBy, isToWake }: Queue): number {
  return (startedBy === null ? 0 : (startedBy + 1) * 4) + (isPaused ? 2 : 0) + (isToWake ? 1 : 0)
}

function packExtras({ rows: [one, other] }: Stored, hasReplays: boolean): number {
  const isDead = (row: Row) => (hasReplays && row.state === 'dead' ? 2 : 0)
  const extrasOf = (row: Row) => ages[row.age] * 4 + isDead(row) + (row.expiredSinceBackup ? 1 : 0)
  return extrasOf(one) * 12 + extrasOf(other)
}

function packOperation(operation: Operation | null): number {
  if (operation === null) return 0
  const { action, takes, owes, walked, isHeld } = operation
  return ((actions[action] << 7) | (takes << 5) | (owes << 3) | (walked << 1) | (isHeld ? 1 : 0)) + 1
}

// 32 bits. The attempts of the model fit into five bits of a mask.
function packRow(row: Row, isMirrored: boolean): number {
  const by = row.by === null ? 4 : isMirrored && row.by < 2 ? 1 - row.by : row.by
  let packed: number = rowStates[row.state]
  packed = packed * 4 + dues[row.due]
  packed = packed * 3 + prefetches[row.prefetched]
  packed = packed * 3 + deadlines[row.deadline]
  packed = (packed << 3) | by
  packed = (packed << 3) | row.attempts
  packed = (packed << 2) | row.lost
  packed = (packed << 2) | row.lostAlone
  packed = (packed << 2) | row.executions
  packed = (packed << 4) | (row.runs >> 1)
  packed = (packed << 4) | (row.sent >> 1)
  const flags = (row.quarantined ? 4 : 0) | (row.mayNotStart ? 2 : 0) | (row.startedSinceBackup ? 1 : 0)
  return (packed << 3) | flags
}

function packProcess({ is, isEntered, isProven, holds }: Process): number {
  const life = (lives[is] * 2 + (isEntered ? 1 : 0)) * 2 + (isProven ? 1 : 0)
  return (((life << 10) | packHold(holds[0])) << 10) | packHold(holds[1])
}

function packHold({ at, attempt, isPrefetched, isOfSession, hasOlder }: Hold): number {
  const flags = (isPrefetched ? 4 : 0) | (isOfSession ? 2 : 0) | (hasOlder ? 1 : 0)
  return (((places[at] << 3) | attempt) << 3) | flags
}
