import type { ProblemCode } from './generated/codes.ts'

/** An invalid field of a request. */
export type FieldError = {
  /** The path of the field with the names of this library, such as `executeAt` or `tasks[3].targetUrl`. */
  path: string
  /** A stable code, such as `execute_at_not_future` or `required`. */
  code: string
  /** A sentence that says what to do. */
  message: string
}

/** The base class of all errors of this library. */
export class BelfryError extends Error {
  override name = 'BelfryError'
}

/** No response arrived: the server is unreachable, or the connection broke. `cause` has the reason. */
export class ConnectionError extends BelfryError {
  override name = 'ConnectionError'
}

/** No complete response arrived within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}

/** The problem of an error response (RFC 9457). */
export type Problem = Pick<ApiError, 'status' | 'code' | 'requestId' | 'errors' | 'body' | 'headers'> & {
  /** A sentence that says what to do. */
  detail: string
  /** The method and the URL of the request, without its query. */
  request: string
}

/** The server returned an error. Distinguish errors by `code`, or by the subclasses below. */
export class ApiError extends BelfryError {
  override name = 'ApiError'
  readonly status: number
  /**
   * A stable code in snake_case, such as `task_not_pending`; documented at `{baseUrl}/api/problems/<code>`. A code that this
   * version does not know is possible.
   */
  readonly code: ProblemCode | (string & {})
  /** The id of the request in the server's log. */
  readonly requestId: string | null
  /** All invalid fields, when `code` is `validation_failed`. */
  readonly errors: readonly FieldError[]
  /** The complete body of the response; text when it was not JSON. */
  readonly body: unknown
  readonly headers: Headers
  /** How long the server asks to wait (`Retry-After`), in milliseconds, or null if it does not say. */
  readonly retryAfterMs: number | null

  constructor(problem: Problem) {
    const fields = problem.errors.map(error => `\n- ${error.path}: ${error.message}`).join('')
    super(`${problem.status} ${problem.code}: ${problem.detail} (${problem.request})${fields}`)
    this.status = problem.status
    this.code = problem.code
    this.requestId = problem.requestId
    this.errors = problem.errors
    this.body = problem.body
    this.headers = problem.headers
    this.retryAfterMs = readRetryAfter(problem.headers)
  }
}

function readRetryAfter(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

/** 400: the request is invalid; `errors` lists all invalid fields. */
export class ValidationError extends ApiError {
  override name = 'ValidationError'
}
/** 401: the API key or the session is missing, unknown, expired or revoked. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}
/** 402: the organization has reached a limit of its tier. */
export class QuotaError extends ApiError {
  override name = 'QuotaError'
}
/** 403: the caller is not allowed to do this. */
export class PermissionError extends ApiError {
  override name = 'PermissionError'
}
/** 404: nothing with this id exists for the caller. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}
/** 409: the current state of the object does not allow this, such as `task_not_pending`. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}
/** 429: too many requests, even after the retries. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}
/** 5xx: the server failed, even after the retries. */
export class ServerError extends ApiError {
  override name = 'ServerError'
}

const classes: Record<number, typeof ApiError> = {
  400: ValidationError,
  401: AuthenticationError,
  402: QuotaError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
}

/** Returns the error for a problem. */
export function toApiError(problem: Problem): ApiError {
  const Refusal = classes[problem.status] ?? (problem.status >= 500 ? ServerError : ApiError)
  return new Refusal(problem)
}
