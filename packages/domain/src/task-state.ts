/** Spec 3.1. */
export const taskStates = ['pending', 'processing', 'retrying', 'success', 'dead', 'cancelled'] as const

export type TaskState = (typeof taskStates)[number]

/** The states that a task never leaves. */
export const terminalStates = ['success', 'dead', 'cancelled'] as const satisfies readonly TaskState[]

export type TerminalState = (typeof terminalStates)[number]

/**
 * Spec 3.2, and what it leaves open: a retrying task is claimed again, and it is cancelled when its workspace is deleted.
 */
export const taskMoves = {
  pending: ['processing', 'cancelled'],
  processing: ['success', 'retrying', 'dead'],
  retrying: ['processing', 'cancelled'],
  success: [],
  dead: [],
  cancelled: [],
} as const satisfies Record<TaskState, readonly TaskState[]>

/** Why a task ended without its dispatch. */
export const stateReasons = [
  'user',
  'monthly_execution_limit',
  'storage_quota',
  'cronjob_paused',
  'cronjob_changed',
  'cronjob_deleted',
  'workspace_deleted',
  'overlap_skipped',
  'missed',
] as const

export type StateReason = (typeof stateReasons)[number]

/** Tells whether a task in this state has ended. */
export function isTerminal(state: TaskState): state is TerminalState {
  return taskMoves[state].length === 0
}

/** Tells whether a task may go from one state to another. */
export function canMove(from: TaskState, to: TaskState): boolean {
  const targets: readonly TaskState[] = taskMoves[from]
  return targets.includes(to)
}
