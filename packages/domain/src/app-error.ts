/**
 * What each problem means that a caller can receive, by the status of the response and its code. Published: a code never changes
 * its meaning.
 */
export const problemsByStatus = {
  400: {
    bad_request: 'The input is not a readable HTTP request; the server closes the connection.',
    malformed_json:
      'The body is not valid JSON in UTF-8, is nested too deeply, or contains text that cannot be stored.',
    validation_failed: 'One or more fields or parameters are invalid; `errors` lists all of them.',
  },
  401: { unauthenticated: 'The request has no API key or session, or the credential is unknown, expired or revoked.' },
  402: {
    quota_exceeded: 'The organization has reached a limit of its tier, which `detail` names. A higher tier raises it.',
    workspace_limit_reached: 'The organization has as many workspaces as its tier allows.',
  },
  403: {
    forbidden:
      'The caller is authenticated but not allowed to do this; `detail` names the missing role or policy flag.',
    invitation_email_mismatch: 'The invitation was sent to a different email address than that of the signed-in user.',
    registration_closed:
      'This installation creates accounts by invitation only, for some email domains only, or not at all.',
    password_login_off: 'Users of this installation sign in through its OpenID Connect issuer, not with a password.',
    email_not_confirmed: 'The user must first open the link that was sent to the address of the account.',
    organization_limit_reached: 'The user owns as many organizations as this installation allows.',
    suspended: 'An operator has suspended the user, the organization or the workspace. Nothing is deleted; tasks wait.',
    second_factor_required:
      'The sign-in or the organization needs a second factor. `factors` lists those of the user, and `sign_in_token` continues the sign-in.',
    step_up_required:
      'The user must confirm the identity first with one of `factors`, at `POST /api/v1/auth/confirm`, or sign in again.',
  },
  404: { not_found: 'Nothing with this path or id exists for the caller.' },
  405: {
    method_not_allowed:
      'The path exists but does not support this method; the `Allow` header lists the supported ones.',
  },
  408: { request_timeout: 'The request did not arrive in time: 20 seconds for its headers, 60 for all of it.' },
  409: {
    conflict: 'The current state of the object does not allow this.',
    task_not_pending: 'Only a pending task can be changed or cancelled; `current_state` is its state.',
    task_not_retrying: 'Only a task that waits for a retry can be stopped; `current_state` is its state.',
    key_in_use:
      'A pending task has this key; `task_id` is its id, see `on_conflict`. Or another cron job, subscription or integration has it.',
    callback_refused:
      'The callback of an MCP subscription did not repeat the challenge that Belfry sent to it; `reason` says what it did instead.',
    task_not_finished: 'Only a finished task can be replayed; `current_state` is its state.',
    slug_taken: 'Another organization has this slug, or Belfry reserves it.',
    queue_in_use: 'Tasks wait in the queue, or a cron job or a subscription names it, so it cannot be deleted.',
    connection_in_use: 'A cron job or a subscription names the connection, so it cannot be deleted.',
    email_taken: 'An account with this email address already exists.',
    last_owner: 'An organization needs at least one owner; make another member an owner first.',
    already_member: 'The user with this email address already belongs to the organization.',
    already_invited: 'An invitation to this email address is open; resend or revoke it.',
    invitation_used: 'The invitation has already been accepted; its link works once.',
    invitation_revoked: 'The invitation was revoked, or its sender may no longer invite to this role.',
    invitation_expired: 'The invitation was not accepted within seven days; it can be resent.',
    idempotency_key_reused: 'The same Idempotency-Key was sent with a different body within 24 hours.',
    idempotency_in_progress: 'A request with the same Idempotency-Key is still in progress; retry in a moment.',
  },
  413: { payload_too_large: 'The body is larger than this path accepts.' },
  415: { unsupported_media_type: 'Bodies must be application/json in UTF-8, without compression.' },
  417: { expectation_failed: 'The `Expect` header has a value other than `100-continue`.' },
  421: { misdirected_request: 'The `Host` header has a name that is not one of this installation.' },
  429: { rate_limited: 'The caller has exceeded its rate limit; retry after the seconds in `Retry-After`.' },
  431: { headers_too_large: 'The URL and headers exceed 16 KiB in total.' },
  500: { internal: 'An internal error, logged with the request id.' },
  503: {
    unavailable: 'The service cannot reach its database; retry the same request in a moment.',
    log_storage_unavailable: 'The runs are in object storage, which does not answer; newer runs can be read.',
  },
  508: { loop_detected: 'A target of Belfry sent the request, after six calls in a row. It creates no task.' },
} as const

type ProblemsByStatus = typeof problemsByStatus
export type AppErrorCode = {
  [Status in keyof ProblemsByStatus]: keyof ProblemsByStatus[Status]
}[keyof ProblemsByStatus]

export const appErrorCodes = Object.values(problemsByStatus).flatMap(codes => Object.keys(codes)) as AppErrorCode[]

export type FieldError = { path: string; code: string; message: string }

export type AppErrorOptions = {
  /** The errors of the fields, when they are the reason. */
  errors?: readonly FieldError[]
  /** Further members of the problem body, in snake_case. */
  extra?: Readonly<Record<string, unknown>>
  /** After how many milliseconds the caller may retry. */
  retryAfterMs?: number
  cause?: unknown
}

/** An error for the caller. Its message becomes `detail`: a full sentence that says what to do. */
export class AppError extends Error {
  readonly code: AppErrorCode
  readonly errors: readonly FieldError[] | undefined
  readonly extra: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: AppErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'AppError'
    this.code = code
    this.errors = options.errors
    this.extra = options.extra
    this.retryAfterMs = options.retryAfterMs
  }
}

/** The error for an object that does not exist or that the caller may not see. */
export function notFound(): AppError {
  return new AppError('not_found', "Not found, or you don't have access.")
}

/** The error of a body, or another part of a request, with one value that is not allowed. */
export function invalidField(path: string, code: string, message: string, part: Part = 'body'): AppError {
  return invalid(part, [{ path, code, message }])
}

type Part = 'body' | 'query' | 'path'

export function invalid(part: Part, errors: readonly FieldError[]): AppError {
  return new AppError('validation_failed', `The ${part} is invalid; see errors.`, { errors })
}
