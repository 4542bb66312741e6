/** One wrong field of a request. */
export type FieldError = {
  /** Where it is, such as `execute_at` or `tasks[3].url`: the name that the HTTP interface uses. */
  path: string
  /** A stable code, such as `execute_at_not_future` or `required`. */
  code: string
  /** A sentence that says what to do. */
  message: string
}

/** Everything that this library throws. */
export class BelfryError extends Error {
  override name = 'BelfryError'
}

/** No answer arrived: the server could not be reached, or the connection broke. The reason is in `cause`. */
export class ConnectionError extends BelfryError {
  override name = 'ConnectionError'
}

/** No complete answer arrived within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}

/** What Belfry's answer says when it refuses a request (RFC 9457). */
export type Problem = {
  status: number
  /** A stable code in snake_case, such as `task_not_pending`; documented at `{baseUrl}/api/problems/<code>`. */
  code: string
  /** A sentence that says what to do. */
  detail: string
  requestId: string | null
  errors: FieldError[]
  /** The whole body of the answer; text when it was not JSON. */
  body: unknown
  headers: Headers
}

/** The server has answered, and the answer is a refusal. Tell refusals apart by `code`, or by the classes below. */
export class ApiError extends BelfryError {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  /** Quote it when you report a problem: the server's log has it too. */
  readonly requestId: string | null
  /** Every wrong field, when `code` is `validation_failed`. */
  readonly errors: readonly FieldError[]
  readonly body: unknown
  readonly headers: Headers

  constructor(problem: Problem) {
    const fields = problem.errors.map(error => `\n- ${error.path}: ${error.message}`).join('')
    super(`${problem.status} ${problem.code}: ${problem.detail}${fields}`)
    this.status = problem.status
    this.code = problem.code
    this.requestId = problem.requestId
    this.errors = problem.errors
    this.body = problem.body
    this.headers = problem.headers
  }
}

/** 400: the request is malformed; `errors` names every wrong field. */
export class ValidationError extends ApiError {
  override name = 'ValidationError'
}
/** 401: the API key or the session is missing, unknown, expired or revoked. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}
/** 402: the organization's tier does not allow more. */
export class QuotaError extends ApiError {
  override name = 'QuotaError'
}
/** 403: the caller is known but may not do this. */
export class PermissionError extends ApiError {
  override name = 'PermissionError'
}
/** 404: nothing with this id exists for the caller. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}
/** 409: the present state of the object does not allow this, such as `task_not_pending`. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}
/** 429: too many requests, also after the retries. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}
/** 5xx: the server could not do it, also after the retries. */
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

/** Makes the error of a refusal. */
export function toApiError(problem: Problem): ApiError {
  const Refusal = classes[problem.status] ?? (problem.status >= 500 ? ServerError : ApiError)
  return new Refusal(problem)
}
