import { type Complain, clockToleranceMs, type Known } from './check-task.ts'
import type { Move, StoredTask } from './history.ts'

const arrows = new Set([
  ...['null>pending', 'null>cancelled', 'pending>processing', 'pending>cancelled'],
  ...['processing>success', 'processing>retrying', 'processing>dead', 'processing>pending', 'retrying>processing'],
  // The deadline has passed, or a user has stopped it.
  'pending>dead',
  // The same, or the late record of an attempt that was lost.
  ...['retrying>success', 'retrying>dead', 'retrying>retrying'],
  // Its workspace was deleted.
  'retrying>cancelled',
])

/** Checks that a task moved only along the arrows of docs/task-states.md, and counted each attempt once. */
export function checkMoves(task: StoredTask, { moves, runs }: Known, complain: Complain): void {
  const stored = new Set(runs.map(({ id }) => id))
  let before: Move | undefined
  for (const move of moves) {
    const state = before?.to ?? null
    if (move.wasHeld && !mayMoveHeld(task, move)) complain('I8', `went to ${move.to} while it was held`)
    if (move.from !== state) complain('I8', `left ${move.from} although it was ${state}`)
    if (!arrows.has(`${move.from}>${move.to}`)) complain('I8', `went from ${move.from} to ${move.to}`)
    else if (move.from === null) checkCreation(task, move, complain)
    else if (before && move.from === state) checkMove(task, before, move, stored, complain)
    before = move
  }
  const last = before?.to ?? null
  if (last !== task.state) complain('I8', `is ${task.state} although its last move was to ${last}`)
}

// Only its user ends a held task.
function mayMoveHeld({ stateReason }: StoredTask, { to }: Move): boolean {
  return to === 'cancelled' || (to === 'dead' && stateReason === 'stopped')
}

function checkCreation(task: StoredTask, move: Move, complain: Complain): void {
  if (move.to === 'cancelled' && (task.occurrenceAt === null || task.stateReason !== 'missed'))
    complain('I8', 'was made as a cancelled task and is no missed occurrence')
}

function checkMove(task: StoredTask, before: Move, move: Move, stored: ReadonlySet<string>, complain: Complain): void {
  const counted = move.attempts - before.attempts
  const isStored = before.runId !== null && stored.has(before.runId)
  if (isEnd(task, move)) {
    if (counted !== 0) complain('I8', `counted ${counted} attempts when it was ended`)
  } else if (move.to === 'processing') {
    if (counted !== 1) complain('I8', `counted ${counted} attempts for one claim`)
  } else if (move.to === 'pending' || (move.to === 'retrying' && counted === -1)) {
    checkUndo(move, counted, isStored, complain)
  } else if (move.from === 'processing') {
    if (counted !== 0) complain('I8', `counted ${counted} attempts when one ended`)
    if (!isStored) complain('I8', `ended attempt ${move.attempts} without its run`)
  } else if (move.to === 'cancelled' && move.from === 'retrying') {
    if (task.stateReason !== 'workspace_deleted') complain('I8', 'was cancelled while it was retrying')
  } else if (move.from === 'retrying' || move.to === 'dead') {
    checkLateRecord(before, move, isStored, complain)
  } else if (counted !== 0) complain('I8', `counted ${counted} attempts while it was cancelled`)
}

// Whether the move ends a waiting task without an attempt, as its reason says.
function isEnd({ stateReason, expiresAt }: StoredTask, { from, to, at }: Move): boolean {
  if (to !== 'dead' || from === 'processing') return false
  const isExpired = stateReason === 'expired' && expiresAt !== null && at >= expiresAt - clockToleranceMs
  return isExpired || (stateReason === 'stopped' && from === 'retrying')
}

// Undoes a claim whose attempt never started: back to the state before the claim, without a trace.
function checkUndo(move: Move, counted: number, isStored: boolean, complain: Complain): void {
  const wanted = move.attempts === 0 ? 'pending' : 'retrying'
  if (counted !== -1) complain('I8', `counted ${counted} attempts when a claim was undone`)
  if (move.to !== wanted) complain('I8', `went back to ${move.to} with ${move.attempts} attempts`)
  if (isStored) complain('I8', 'undid a claim whose run is stored')
}

// The dispatcher was taken for dead and was not: what it knows counts as long as nothing else has claimed the task.
function checkLateRecord(before: Move, move: Move, isStored: boolean, complain: Complain): void {
  const isLate = move.wasQuarantined && move.runId !== null && move.runId === before.runId && isStored
  if (!isLate || move.attempts !== before.attempts)
    complain('I8', `went from ${move.from} to ${move.to} without a late record of a lost attempt`)
}
