import type { RunTimings } from '@belfry/domain/run-timings'

export type SendOutcome = Outcome | UnsentOutcome

export type Outcome = ResponseOutcome | FailureOutcome

/** The status line arrived in time, and headers after it; the body may have been cut short. */
export type ResponseOutcome = {
  kind: 'response'
  status: number
  headers: Record<string, string | string[]>
  /** At most 64 KiB, exactly as received: never decompressed, never decoded. */
  body: Buffer
  /** The bytes that had arrived when reading stopped: at least the length of `body`. */
  bodyBytes: number
  /** Whether a part of the body is missing: it was too long, too slow, or broke off. */
  bodyTruncated: boolean
  /** A sentence about headers that could not be read; they are then empty, as is the body. Null when they could. */
  note: string | null
  timings: RunTimings | null
}

/** There was no response. The message is a sentence for the owner of the task. */
export type FailureOutcome = { kind: 'failure'; code: FailureCode; message: string; timings?: RunTimings | null }

/**
 * The target was not called: file descriptors or the egress proxy were missing, or the caller has withdrawn the
 * request. The message is a sentence for the operator. The outcome is not the fault of the target, and the request may
 * be made again.
 */
export type UnsentOutcome = {
  kind: 'unsent'
  message: string
  /** Settles when the request may be made again. Default: after some seconds. */
  until?: Promise<unknown>
}

/** What each failure means, as a sentence for the owner of the task. */
export const failureMessages = {
  timeout: 'The target did not answer in time.',
  connection_refused: 'No connection to the target could be made.',
  connection_reset: 'The connection broke before the target had answered.',
  // It may have received the request.
  stale_connection: 'The target closed a kept-alive connection as the request was sent on it.',
  dns: 'The host name of the target could not be resolved.',
  tls: 'No secure connection to the target could be set up.',
  blocked_address: 'The target is at an address that this installation does not call.',
  invalid_response: 'The answer of the target is not valid HTTP.',
  worker_lost: 'The dispatcher was stopped before the target had answered; the target may have been called.',
}

export type FailureCode = keyof typeof failureMessages
