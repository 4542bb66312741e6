import { roles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { idField, shownFlag, shownText, shownTexts, textOrNull, timestampField } from './response-fields.ts'
import { displayName, emailAddress, newPassword } from './text-rules.ts'

export const registerBody = z.strictObject({
  email: textField(emailAddress),
  password: textField(newPassword),
  name: textField(displayName),
  check_token: z
    .string()
    .max(4096)
    .optional()
    .meta({ description: 'The token of the page at `check_url`. Required where there is one.' }),
})

/** Deliberately lenient: an impossible password or address gets the same response as a wrong one. */
export const loginBody = z.strictObject({
  email: z.string(),
  password: z.string(),
})

/** Who may create an account at the moment. */
export const registrationRules = namedObject('RegistrationRules', {
  registration: z.enum(['open', 'invite', 'closed']).meta({
    description: '`open`: any user may. `invite`: users with an invitation may. `closed`: no user may.',
  }),
  domains: shownTexts('The domains of the email addresses that may register without an invitation. Empty: all.', [
    'example.com',
  ]).readonly(),
  check_url: textOrNull(
    'A page that gives out the `check_token` of a registration, such as a captcha. Null: none is required.',
  ),
})

/** A new password requires the current one. */
export const updateMeBody = z
  .strictObject({
    name: textField(displayName).optional(),
    password: textField(newPassword).optional(),
    current_password: z.string().min(1).optional(),
  })
  .refine(body => body.password === undefined || body.current_password !== undefined, {
    path: ['current_password'],
    params: { code: 'required', must: 'be sent with a new password' },
  })
  .meta({ examples: [{ name: 'Ada Lovelace' }] })

export const user = namedObject('User', {
  id: idField('user'),
  email: z.string().meta({ format: 'email', examples: ['ada@example.com'] }),
  name: z.string().meta({ examples: ['Ada Lovelace'] }),
  created_at: timestampField(),
})

export type User = z.infer<typeof user>

/** How a user appears in the lists of members. */
export const memberUser = user.omit({ created_at: true })

/** How an organization appears in the objects of its members. */
export const namedOrganization = {
  id: idField('org'),
  name: z.string().meta({ examples: ['Acme'] }),
  slug: z.string().meta({ examples: ['acme'] }),
}

/** The signed-in user, and the 100 organizations that they joined last. */
export const me = namedObject('Me', {
  user,
  must_confirm_email: shownFlag('Whether the user must confirm the email address before creating an organization.'),
  is_operator: shownFlag('Whether the user may open the operator console.', false),
  organizations: listOf({ ...namedOrganization, role: z.enum(roles) }),
})

export type Me = z.infer<typeof me>

export const session = namedObject('Session', {
  id: idField('ses'),
  device: shownText('The program and the system that signed in.', 'Chrome on Linux'),
  address: textOrNull('The IP address of a recent request.', '192.0.2.7'),
  is_current: shownFlag('Whether this request came with it.'),
  created_at: timestampField(),
  last_used_at: timestampField().meta({ description: 'Written at most once a minute.' }),
  expires_at: timestampField(),
})

export type Session = z.infer<typeof session>

/** The response to a registration or a login. */
export const signedIn = namedObject('SignedIn', {
  user,
  token: shownText(
    'The session token. Browsers also receive it as a cookie.',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl',
  ),
  expires_at: timestampField(),
})

export type SignedIn = z.infer<typeof signedIn>
