import type { Outcome } from '../egress/outcome.ts'

/** The outcome of an attempt: that of the call, or a failure of Belfry. */
export type AttemptOutcome = Outcome | OwnFailure

/**
 * The attempt failed in Belfry. `secret_missing`: a secret is missing. `secret_invalid`: its value is not valid in its place.
 * `secret_not_allowed`: a secret may not be sent to the host. `secret_unreadable`: this installation cannot decrypt a stored secret.
 * `connection_missing`: the workspace has no such connection. `connection_not_allowed`: the connection may not authenticate to
 * the host. `connection_failed`: it has no token to send. `internal_error`: any other fault.
 */
export type OwnFailure = {
  kind: 'failure'
  code:
    | 'secret_missing'
    | 'secret_invalid'
    | 'secret_not_allowed'
    | 'secret_unreadable'
    | 'connection_missing'
    | 'connection_not_allowed'
    | 'connection_failed'
    | 'internal_error'
  message: string
  timings?: null
}

export function secretMissing(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_missing', message }
}

export function secretInvalid(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_invalid', message }
}

/** The message does not name the host, which may be the value of a secret. */
export function secretNotAllowed(references: readonly string[]): OwnFailure {
  const message = `Nothing was sent: the host of the URL is not one of those that ${references.join(' and ')} may be sent to.`
  return { kind: 'failure', code: 'secret_not_allowed', message }
}

export function secretUnreadable(message: string): OwnFailure {
  return { kind: 'failure', code: 'secret_unreadable', message }
}

export function connectionMissing(name: string): OwnFailure {
  const message = `Nothing was sent: the workspace has no connection ${name}.`
  return { kind: 'failure', code: 'connection_missing', message }
}

/** The message does not name the host, which may be the value of a secret. */
export function connectionNotAllowed(name: string, reason?: string): OwnFailure {
  const message = `Nothing was sent: ${reason ?? `the host of the URL is not one of those of the connection ${name}`}.`
  return { kind: 'failure', code: 'connection_not_allowed', message }
}

export function connectionFailed(message: string): OwnFailure {
  return { kind: 'failure', code: 'connection_failed', message: `Nothing was sent: ${message}` }
}

export function internalError(isSent: boolean): OwnFailure {
  const effect = isSent ? 'The target may have been called.' : 'Nothing was sent.'
  return { kind: 'failure', code: 'internal_error', message: `Belfry failed within this attempt. ${effect}` }
}
