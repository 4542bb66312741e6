import { type AppErrorCode, appErrorCodes } from '@belfry/domain/app-error'
import { z } from 'zod'
import { orNull } from './response-fields.ts'

const fieldError = z
  .object({
    path: z.string().meta({ description: 'The path of the field in the input.', examples: ['execute_at'] }),
    code: z.string().meta({ examples: ['execute_at_not_future'] }),
    message: z.string().meta({ examples: ['execute_at must be later than now.'] }),
  })
  .meta({ id: 'FieldError' })

/** The body of every error response (RFC 9457). Some codes add members, such as `current_state`. */
export const problem = z
  .looseObject({
    type: z.string().meta({
      format: 'uri',
      description: 'The URL of a page about this kind of problem.',
      examples: ['http://localhost:3000/api/problems/validation_failed'],
    }),
    title: z.string().meta({ examples: ['Validation failed'] }),
    status: z.int().meta({ examples: [400] }),
    detail: z
      .string()
      .meta({ description: 'What happened, and what to do about it.', examples: ['The body is invalid; see errors.'] }),
    code: z.enum(appErrorCodes).meta({ description: 'Stable.', examples: ['validation_failed'] }),
    request_id: z.string().meta({ examples: ['0d9f6a1e-6f0c-4a35-9d7a-3f2f1f6d8b21'] }),
    errors: z.array(fieldError).readonly().optional().meta({ description: 'Every invalid field.' }),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problem>

/** The content of the page about the code of a problem, a field or a failed run. */
export const problemPage = z
  .object({
    code: z.string().meta({ examples: ['rate_limited'] }),
    status: orNull(z.int(), {
      description: 'The status of the response. Null for codes of fields and runs.',
      examples: [429],
    }),
    title: z.string().meta({ examples: ['Too many requests'] }),
    description: z.string().meta({ description: 'The cause, and what to do.' }),
  })
  .meta({ id: 'ProblemPage' })

export type ProblemKind = { status: number; title: string; description: string }

/** The status, title and description of each kind of problem. */
export const problems: Readonly<Record<AppErrorCode, ProblemKind>> = {
  bad_request: {
    status: 400,
    title: 'Bad request',
    description: 'The input is not a readable HTTP request; the server closes the connection.',
  },
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    description: 'The body is not valid JSON in UTF-8, is nested too deeply, or contains text that cannot be stored.',
  },
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    description: 'One or more fields or parameters are invalid; `errors` lists all of them.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    description: 'The request has no API key or session, or the credential is unknown, expired or revoked.',
  },
  quota_exceeded: {
    status: 402,
    title: 'Quota exceeded',
    description: 'The organization has reached a limit of its tier, which `detail` names. A higher tier raises it.',
  },
  workspace_limit_reached: {
    status: 402,
    title: 'Workspace limit reached',
    description: 'The organization has as many workspaces as its tier allows.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    description:
      'The caller is authenticated but not allowed to do this; `detail` names the missing role or policy flag.',
  },
  invitation_email_mismatch: {
    status: 403,
    title: 'Invitation for another address',
    description: 'The invitation was sent to a different email address than that of the signed-in user.',
  },
  registration_closed: {
    status: 403,
    title: 'Registration closed',
    description: 'This installation creates accounts by invitation only, for some email domains only, or not at all.',
  },
  password_login_off: {
    status: 403,
    title: 'No passwords here',
    description: 'Users of this installation sign in through its OpenID Connect issuer, not with a password.',
  },
  email_not_confirmed: {
    status: 403,
    title: 'Email address not confirmed',
    description: 'The user must first open the link that was sent to the address of the account.',
  },
  organization_limit_reached: {
    status: 403,
    title: 'Organization limit reached',
    description: 'The user owns as many organizations as this installation allows.',
  },
  suspended: {
    status: 403,
    title: 'Suspended',
    description:
      'An operator has suspended the user, the organization or the workspace. Nothing is deleted; tasks wait.',
  },
  second_factor_required: {
    status: 403,
    title: 'Second factor required',
    description:
      'The sign-in or the organization needs a second factor. `factors` lists those of the user, and `sign_in_token` continues the sign-in.',
  },
  step_up_required: {
    status: 403,
    title: 'Confirmation required',
    description:
      'The user must confirm the identity first with one of `factors`, at `POST /api/v1/auth/confirm`, or sign in again.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    description: 'Nothing with this path or id exists for the caller.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    description: 'The path exists but does not support this method; the `Allow` header lists the supported ones.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    description: 'The request did not arrive in time: 20 seconds for its headers, 60 for all of it.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    description: 'The current state of the object does not allow this.',
  },
  task_not_pending: {
    status: 409,
    title: 'Task not pending',
    description: 'Only a pending task can be changed or cancelled; `current_state` is its state.',
  },
  task_not_retrying: {
    status: 409,
    title: 'Task not retrying',
    description: 'Only a task that waits for a retry can be stopped; `current_state` is its state.',
  },
  key_in_use: {
    status: 409,
    title: 'Key in use',
    description:
      'A pending task has this key; `task_id` is its id, see `on_conflict`. Or another cron job, subscription or integration has it.',
  },
  task_not_finished: {
    status: 409,
    title: 'Task not finished',
    description: 'Only a finished task can be replayed; `current_state` is its state.',
  },
  slug_taken: {
    status: 409,
    title: 'Slug taken',
    description: 'Another organization has this slug, or Belfry reserves it.',
  },
  queue_in_use: {
    status: 409,
    title: 'Queue in use',
    description: 'Tasks wait in the queue, or a cron job or a subscription names it, so it cannot be deleted.',
  },
  connection_in_use: {
    status: 409,
    title: 'Connection in use',
    description: 'A cron job or a subscription names the connection, so it cannot be deleted.',
  },
  email_taken: {
    status: 409,
    title: 'Email address taken',
    description: 'An account with this email address already exists.',
  },
  last_owner: {
    status: 409,
    title: 'Last owner',
    description: 'An organization needs at least one owner; make another member an owner first.',
  },
  already_member: {
    status: 409,
    title: 'Already a member',
    description: 'The user with this email address already belongs to the organization.',
  },
  already_invited: {
    status: 409,
    title: 'Already invited',
    description: 'An invitation to this email address is open; resend or revoke it.',
  },
  invitation_used: {
    status: 409,
    title: 'Invitation used',
    description: 'The invitation has already been accepted; its link works once.',
  },
  invitation_revoked: {
    status: 409,
    title: 'Invitation revoked',
    description: 'The invitation was revoked, or its sender may no longer invite to this role.',
  },
  invitation_expired: {
    status: 409,
    title: 'Invitation expired',
    description: 'The invitation was not accepted within seven days; it can be resent.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'Idempotency key reused',
    description: 'The same Idempotency-Key was sent with a different body within 24 hours.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'First request still in progress',
    description: 'A request with the same Idempotency-Key is still in progress; retry in a moment.',
  },
  payload_too_large: {
    status: 413,
    title: 'Body too large',
    description: 'The body is larger than this path accepts.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    description: 'Bodies must be application/json in UTF-8, without compression.',
  },
  expectation_failed: {
    status: 417,
    title: 'Expectation failed',
    description: 'The `Expect` header has a value other than `100-continue`.',
  },
  misdirected_request: {
    status: 421,
    title: 'Misdirected request',
    description: 'The `Host` header has a name that is not one of this installation.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    description: 'The caller has exceeded its rate limit; retry after the seconds in `Retry-After`.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    description: 'The URL and headers exceed 16 KiB in total.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    description: 'An internal error, logged with the request id.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    description: 'The service cannot reach its database; retry the same request in a moment.',
  },
  log_storage_unavailable: {
    status: 503,
    title: 'Log storage unavailable',
    description: 'The runs are in object storage, which does not answer; newer runs can be read.',
  },
  loop_detected: {
    status: 508,
    title: 'Loop detected',
    description: 'A target of Belfry sent the request, after six calls in a row. It creates no task.',
  },
}
