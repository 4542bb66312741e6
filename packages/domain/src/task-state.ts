export const taskStates = ['pending', 'processing', 'retrying', 'success', 'dead', 'cancelled'] as const

export type TaskState = (typeof taskStates)[number]

/** The states that a task never leaves. */
export const terminalStates = ['success', 'dead', 'cancelled'] as const satisfies readonly TaskState[]

/** Why a task ended without the outcome of an attempt. */
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
  'expired',
  'stopped',
  'subscription_off',
  'subscription_deleted',
] as const

export type StateReason = (typeof stateReasons)[number]

export function isTerminal(state: TaskState): state is (typeof terminalStates)[number] {
  return (terminalStates as readonly TaskState[]).includes(state)
}
