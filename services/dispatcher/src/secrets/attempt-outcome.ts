import type { Outcome } from '../egress/outcome.ts'

/** The outcome of an attempt: that of the call, or a failure of Belfry. */
export type AttemptOutcome = Outcome | OwnFailure

/**
 * The attempt failed in Belfry. `secret_missing`: a secret is missing, or its value is not valid in its place.
 * `secret_not_allowed`:
 * a secret may not be sent to the host. `secret_unreadable`: this installation cannot decrypt a stored secret. `internal_error`: any other fault.
 */
export type OwnFailure = {
  kind: 'failure'
  code: 'secret_missing' | 'secret_not_allowed' | 'secret_unreadable' | 'internal_error'
  message: string
}

export function secretMissing(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_missing', message }
}

/** The message does not name the host, which may be the value of a secret. */
export function secretNotAllowed(references: readonly string[]): OwnFailure {
  const message = `Nothing was sent: the host of the URL is not one of those that ${references.join(' and ')} may be sent to.`
  return { kind: 'failure', code: 'secret_not_allowed', message }
}

export function secretUnreadable(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_unreadable', message }
}

export function internalError(isSent: boolean): OwnFailure {
  const effect = isSent ? 'The target may have been called.' : 'Nothing was sent.'
  return { kind: 'failure', code: 'internal_error', message: `Belfry failed within this attempt. ${effect}` }
}
