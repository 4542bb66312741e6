/** The codes of all problems that a caller can receive. Published: a code never changes its meaning. */
export const appErrorCodes = [
  'bad_request',
  'malformed_json',
  'validation_failed',
  'unauthenticated',
  'quota_exceeded',
  'workspace_limit_reached',
  'forbidden',
  'invitation_email_mismatch',
  'registration_closed',
  'password_login_off',
  'email_not_confirmed',
  'organization_limit_reached',
  'suspended',
  'second_factor_required',
  'step_up_required',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'conflict',
  'task_not_pending',
  'task_not_retrying',
  'task_not_finished',
  'key_in_use',
  'slug_taken',
  'queue_in_use',
  'connection_in_use',
  'email_taken',
  'last_owner',
  'already_member',
  'already_invited',
  'invitation_used',
  'invitation_revoked',
  'invitation_expired',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'payload_too_large',
  'unsupported_media_type',
  'expectation_failed',
  'misdirected_request',
  'rate_limited',
  'headers_too_large',
  'internal',
  'unavailable',
  'log_storage_unavailable',
  'loop_detected',
] as const

export type AppErrorCode = (typeof appErrorCodes)[number]

/** One error of one field. */
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
