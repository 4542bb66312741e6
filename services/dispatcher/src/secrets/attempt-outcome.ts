import type { Outcome } from '../egress/outcome.ts'

/** The outcome of an attempt: what the target did, or why the attempt failed without it. */
export type AttemptOutcome = Outcome | OwnFailure

/**
 * The attempt failed on our side. `secret_missing`: a secret is missing, or cannot be used where it should go.
 * `secret_unreadable`: a secret is stored, and this installation cannot decrypt it. `internal_error`: any other fault.
 */
export type OwnFailure = {
  kind: 'failure'
  code: 'secret_missing' | 'secret_unreadable' | 'internal_error'
  message: string
}

export function secretMissing(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_missing', message }
}

export function secretUnreadable(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_unreadable', message }
}

export function internalError(isSent: boolean): OwnFailure {
  const effect = isSent ? 'The target may have been called.' : 'Nothing was sent.'
  return { kind: 'failure', code: 'internal_error', message: `Belfry failed within this attempt. ${effect}` }
}
