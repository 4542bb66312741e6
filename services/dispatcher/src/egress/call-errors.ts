import type { RunTimings } from '@belfry/domain/run-timings'
import { type FailureCode, failureMessages } from './outcome.ts'

/** There was no response; the cause is the error. */
export class FailedCallError extends Error {
  readonly timings: RunTimings | null

  constructor(timings: RunTimings | null, cause: unknown) {
    super(undefined, { cause })
    this.timings = timings
  }
}

/** A failure whose code is known. The message is a sentence for the owner of the task. */
export class CallFailure extends Error {
  readonly failure: FailureCode

  constructor(failure: FailureCode, message: string = failureMessages[failure]) {
    super(message)
    this.failure = failure
  }
}

/** The target took too long to accept the connection, or to finish the handshake. */
export function connectTimeout(): CallFailure {
  return new CallFailure('timeout', 'No connection to the target could be made in time.')
}

export class NameResolutionError extends Error {}
/** The TLS handshake failed; the cause is its error. */
export class TlsError extends Error {}
/** The egress proxy failed; the cause is its error. The request was not sent to the target. */
export class ProxyError extends Error {}
/** The caller has withdrawn the request before its first byte was written; the message says why. */
export class WithheldError extends Error {}
