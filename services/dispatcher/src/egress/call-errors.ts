import type { RunTimings } from '@belfry/domain/run-timings'

/** There was no response; the cause is the error. */
export class FailedCallError extends Error {
  readonly timings: RunTimings | null

  constructor(timings: RunTimings | null, cause: unknown) {
    super(undefined, { cause })
    this.timings = timings
  }
}

/** The target is at an address that this installation does not call. */
export class BlockedAddressError extends Error {}
export class NameResolutionError extends Error {}
/** The target took too long to accept the connection, or to finish the handshake. */
export class ConnectTimeoutError extends Error {}
/** The TLS handshake failed; the cause is its error. */
export class TlsError extends Error {}
/** The egress proxy failed; the cause is its error. The request was not sent to the target. */
export class ProxyError extends Error {}
/** The egress proxy refused to connect to the target; the message says so. */
export class TunnelRefusedError extends Error {}
/** The caller has withdrawn the request before its first byte was written; the message says why. */
export class WithheldError extends Error {}
export class DeadlineError extends Error {}
/** The target closed a kept connection when it was used again, before any byte of a response; the cause is the error. */
export class StaleConnectionError extends Error {}
export class TooManyResponsesError extends Error {}
export class InvalidRequestError extends Error {}
