import type { Outcome } from '../egress/outcome.ts'

/** The outcome of an attempt: the outcome of the call, or a failure of Belfry. */
export type AttemptOutcome = Outcome | OwnFailure

/**
 * Why an attempt failed in Belfry. `secret_missing`: a secret is missing. `secret_invalid`: its value is not valid in
 * its place. `secret_not_allowed`: a secret may not be sent to the host. `secret_unreadable`: this installation cannot
 * decrypt a stored secret. `connection_missing`: the workspace has no such connection. `connection_not_allowed`: the
 * connection may not authenticate to the host. `connection_failed`: it has no token to send. `internal_error`: any
 * other fault.
 */
export const ownFailureCodes = [
  'secret_missing',
  'secret_invalid',
  'secret_not_allowed',
  'secret_unreadable',
  'connection_missing',
  'connection_not_allowed',
  'connection_failed',
  'internal_error',
] as const

export type OwnFailure = {
  kind: 'failure'
  code: (typeof ownFailureCodes)[number]
  message: string
  timings?: null
}

/**
 * Returns the outcome of an attempt without a call. The reason must not name the host, because it may be the value of a
 * secret.
 */
export function notSent(code: OwnFailure['code'], reason: string): OwnFailure {
  return { kind: 'failure', code, message: `Nothing was sent: ${reason}` }
}

export function internalError(isSent: boolean): OwnFailure {
  const effect = isSent ? 'The target may have been called.' : 'Nothing was sent.'
  return { kind: 'failure', code: 'internal_error', message: `Belfry failed within this attempt. ${effect}` }
}
