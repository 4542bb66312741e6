import { type AppErrorCode, appErrorCodes } from '@belfry/domain'
import { z } from 'zod'

const fieldError = z
  .object({
    path: z.string().meta({ description: 'Where the field stands in what was sent.', examples: ['execute_at'] }),
    code: z.string().meta({ examples: ['execute_at_not_future'] }),
    message: z.string().meta({ examples: ['execute_at must be later than now.'] }),
  })
  .meta({ id: 'FieldError' })

/** The body of every refusal (RFC 9457). Some codes add members of their own, such as `current_state`. */
export const problem = z
  .looseObject({
    type: z.string().meta({
      format: 'uri',
      description: 'A page about this kind of problem.',
      examples: ['http://localhost:3000/api/problems/validation_failed'],
    }),
    title: z.string().meta({ examples: ['Validation failed'] }),
    status: z.int().meta({ examples: [400] }),
    detail: z.string().meta({ description: 'What to do about it.', examples: ['The body is invalid; see errors.'] }),
    code: z.enum(appErrorCodes).meta({ description: 'Stable.', examples: ['validation_failed'] }),
    request_id: z.string().meta({ examples: ['0d9f6a1e-6f0c-4a35-9d7a-3f2f1f6d8b21'] }),
    errors: z.array(fieldError).readonly().optional().meta({ description: 'Every field that is wrong.' }),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problem>

/** What the page about a kind of problem says. */
export const problemPage = z
  .object({
    code: z.enum(appErrorCodes),
    status: z.int().meta({ examples: [429] }),
    title: z.string().meta({ examples: ['Too many requests'] }),
    description: z.string(),
  })
  .meta({ id: 'ProblemPage' })

export type ProblemKind = { status: number; title: string; description: string }

/** How each refusal is answered, and the sentence that its page says about it. */
export const problems: Readonly<Record<AppErrorCode, ProblemKind>> = {
  bad_request: {
    status: 400,
    title: 'Bad request',
    description: 'What was sent is not an HTTP request that can be read; the connection is closed.',
  },
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    description: 'The body is not JSON text in UTF-8, is nested too deeply, or contains text that cannot be stored.',
  },
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    description: 'One or more fields or parameters are wrong; `errors` names every one of them.',
  },
  unauthenticated: {
    status: 401,
    title: 'Not authenticated',
    description: 'The request carries no API key or session, or one that is unknown, expired or revoked.',
  },
  quota_exceeded: {
    status: 402,
    title: 'Quota exceeded',
    description:
      'The tier allows no more: of executions in the month, of storage, or of what `detail` names. A higher tier raises it.',
  },
  workspace_limit_reached: {
    status: 402,
    title: 'Workspace limit reached',
    description: 'The organization has as many workspaces as its tier allows.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    description: 'The caller is known but may not do this; `detail` names the role or the policy flag that is missing.',
  },
  invitation_email_mismatch: {
    status: 403,
    title: 'Invitation for another address',
    description: 'The invitation was sent to another e-mail address than that of the signed-in user.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    description: 'Nothing with this path or id exists for the caller.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    description: 'The path exists but does not answer this method; the `Allow` header lists those that it answers.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    description: 'The request did not arrive in time: 20 seconds for its headers, 60 for all of it.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    description: 'The present state of the object does not allow this.',
  },
  task_not_pending: {
    status: 409,
    title: 'Task not pending',
    description: 'Only a pending task can be changed or cancelled; `current_state` tells the state it is in.',
  },
  task_not_finished: {
    status: 409,
    title: 'Task not finished',
    description: 'Only a finished task can be replayed; `current_state` tells the state it is in.',
  },
  slug_taken: {
    status: 409,
    title: 'Slug taken',
    description: 'Another organization has this slug, or it is one of the addresses of Belfry itself.',
  },
  email_taken: {
    status: 409,
    title: 'E-mail address taken',
    description: 'An account with this e-mail address exists already.',
  },
  last_owner: {
    status: 409,
    title: 'Last owner',
    description: 'An organization keeps at least one owner; make somebody else an owner first.',
  },
  already_member: {
    status: 409,
    title: 'Already a member',
    description: 'Whoever has this e-mail address belongs to the organization already.',
  },
  already_invited: {
    status: 409,
    title: 'Already invited',
    description: 'An invitation to this e-mail address is still open; resend it, or revoke it first.',
  },
  invitation_used: {
    status: 409,
    title: 'Invitation used',
    description: 'The invitation has been accepted; a link works once.',
  },
  invitation_revoked: {
    status: 409,
    title: 'Invitation revoked',
    description: 'The invitation was taken back, or whoever sent it may not invite to this role any more.',
  },
  invitation_expired: {
    status: 409,
    title: 'Invitation expired',
    description: 'The invitation was not accepted within seven days; it can be sent again.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'Idempotency key reused',
    description: 'The same Idempotency-Key was sent with a different body within 24 hours.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'First request still in progress',
    description: 'A request with the same Idempotency-Key is still being worked on; repeat this one in a moment.',
  },
  payload_too_large: {
    status: 413,
    title: 'Body too large',
    description: 'The body has more bytes than the path accepts.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    description: 'Bodies are accepted as application/json in UTF-8, without compression.',
  },
  expectation_failed: {
    status: 417,
    title: 'Expectation failed',
    description: 'The `Expect` header asks for something else than `100-continue`.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    description: 'The caller has used up its rate; `Retry-After` tells when to go on.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    description: 'URL and headers together have more than 16 KiB.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    description: 'A fault of the service, recorded under the request id.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    description: 'The service cannot reach its database; the same request can be sent again in a moment.',
  },
}
