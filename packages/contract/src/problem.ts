import { type AppErrorCode, appErrorCodes, problemsByStatus } from '@belfry/domain/app-error'
import { z } from 'zod'
import { namedObject } from './objects.ts'
import { shownText } from './response-fields.ts'

const fieldError = namedObject('FieldError', {
  path: shownText('The path of the field in the input.', 'execute_at'),
  code: z.string().meta({ examples: ['execute_at_not_future'], description: 'A stable code, such as `required`.' }),
  message: z.string().meta({ examples: ['execute_at must be later than now.'] }),
})

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
    detail: shownText('What happened, and what to do about it.', 'The body is invalid; see errors.'),
    code: z.enum(appErrorCodes).meta({ description: 'Stable.', examples: ['validation_failed'] }),
    request_id: z.string().meta({ examples: ['0d9f6a1e-6f0c-4a35-9d7a-3f2f1f6d8b21'] }),
    errors: z.array(fieldError).readonly().optional().meta({ description: 'Every invalid field.' }),
  })
  .meta({ id: 'Problem' })

export type Problem = z.infer<typeof problem>

// Where the title is more than the words of the code.
const titles: Partial<Record<AppErrorCode, string>> = {
  malformed_json: 'Malformed JSON',
  unauthenticated: 'Not authenticated',
  invitation_email_mismatch: 'Invitation for another address',
  password_login_off: 'No passwords here',
  email_not_confirmed: 'Email address not confirmed',
  step_up_required: 'Confirmation required',
  email_taken: 'Email address taken',
  already_member: 'Already a member',
  idempotency_in_progress: 'First request still in progress',
  payload_too_large: 'Body too large',
  rate_limited: 'Too many requests',
  internal: 'Internal error',
}

/** The status, title and description of each kind of problem. */
export const problems = Object.fromEntries(
  Object.entries(problemsByStatus).flatMap(([status, codes]) =>
    Object.entries(codes).map(([code, description]) => [
      code,
      { status: Number(status), title: titles[code as AppErrorCode] ?? titleOf(code), description },
    ]),
  ),
) as Readonly<Record<AppErrorCode, { status: number; title: string; description: string }>>

function titleOf(code: string): string {
  return code.replaceAll('_', ' ').replace(/^./, letter => letter.toUpperCase())
}
