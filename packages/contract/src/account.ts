import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { accountEntry } from './audit-entry.ts'
import { me, registerBody, registrationRules, session, signedIn, updateMeBody, user } from './auth.ts'
import { linkToken, textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { idField, timestampField } from './response-fields.ts'
import { secondFactors } from './second-factor.ts'
import { newPassword } from './text-rules.ts'

const named = { id: idField('org'), name: z.string().meta({ examples: ['Acme'] }) }

/** Everything that Belfry stores about a user outside of the data of organizations. */
const accountExport = namedObject('AccountExport', {
  exported_at: timestampField().meta({ description: 'When the export was made.' }),
  user: user.extend({ email_confirmed_at: timestampField().nullable() }),
  organizations: listOf({ ...named, role: z.enum(roles), joined_at: timestampField() }),
  workspaces: z.array(
    z.object({ ...named, id: idField('ws'), role: z.enum(workspaceRoles), added_at: timestampField() }),
  ),
  sessions: z.array(session).meta({ description: 'The sessions of the user.' }),
  identities: listOf({
    issuer: z.string().meta({ examples: ['https://id.example.com/realms/acme'] }),
    subject: z.string().meta({ examples: ['248289761001'], description: 'The id of the user at the issuer.' }),
    created_at: timestampField(),
  }).meta({ description: 'The identities of the OpenID Connect issuer that sign in to the account.' }),
  second_factors: secondFactors,
  api_keys: listOf({
    ...named,
    id: idField('key'),
    workspace_id: idField('ws'),
    created_at: timestampField(),
    revoked_at: timestampField().nullable(),
  }),
  invitations: listOf({
    id: idField('inv'),
    organization_id: idField('org'),
    email: z.string(),
    created_at: timestampField(),
  }),
  security_log: z.array(accountEntry).meta({ description: 'The latest 10,000 entries of the last 90 days.' }),
})

export type AccountExport = z.infer<typeof accountExport>

export const accountOperations = {
  getRegistration: operation('GET', '/api/v1/auth/register', {
    right: 'public',
    summary: 'Read who may create an account',
    response: { status: 200, body: registrationRules },
  }),

  register: operation('POST', '/api/v1/auth/register', {
    right: 'public',
    summary: 'Create an account',
    body: registerBody,
    response: { status: 201, body: signedIn, setsCookie: true },
    errors: ['email_taken', 'registration_closed', 'rate_limited', 'password_login_off', 'unavailable'],
  }),

  forgotPassword: operation('POST', '/api/v1/auth/password/forgot', {
    right: 'public',
    summary: 'Send a link for choosing a new password, if the address has an account',
    // Lenient: the response must not reveal whether an account exists.
    body: z.strictObject({ email: z.string().max(1000) }),
    response: { status: 202 },
    errors: ['rate_limited', 'password_login_off'],
  }),

  resetPassword: operation('POST', '/api/v1/auth/password/reset', {
    right: 'public',
    summary: 'Choose a new password with the token of a link; all sessions of the user end',
    body: z.strictObject({ token: linkToken, password: textField(newPassword) }),
    errors: ['rate_limited', 'password_login_off'],
  }),

  confirmEmail: operation('POST', '/api/v1/auth/email/confirm', {
    right: 'public',
    summary: 'Confirm the email address of an account with the token of a link',
    body: z.strictObject({ token: linkToken }),
    errors: ['rate_limited'],
  }),

  resendConfirmation: operation('POST', '/api/v1/auth/email/resend', {
    right: 'signed_in',
    summary: 'Send another link that confirms the email address, unless it is confirmed',
    response: { status: 202 },
  }),

  listAccountLog: operation('GET', '/api/v1/auth/log', {
    right: 'signed_in',
    summary: 'List the sign-ins of the user and the changes of the password, newest first',
    query: listQuery,
    response: { status: 200, body: pageOf(accountEntry) },
  }),

  getMe: operation('GET', '/api/v1/auth/me', {
    right: 'signed_in',
    summary: 'Read the signed-in user and their organizations',
    response: { status: 200, body: me },
  }),

  updateMe: operation('PATCH', '/api/v1/auth/me', {
    right: 'signed_in',
    summary: 'Change the name or the password of the user; a password ends all other sessions',
    body: updateMeBody,
    response: { status: 200, body: me },
  }),

  exportMe: operation('GET', '/api/v1/auth/me/export', {
    right: 'signed_in',
    summary: 'Export all data about the user',
    response: { status: 200, body: accountExport },
  }),

  deleteMe: operation('POST', '/api/v1/auth/me/delete', {
    right: 'signed_in',
    summary: 'Delete the account of the user, who must not be the last owner of an organization',
    body: z.strictObject({
      current_password: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'Not needed within ten minutes after a sign-in through the issuer.' }),
    }),
    response: { status: 204, setsCookie: true },
    errors: ['last_owner', 'step_up_required', 'rate_limited', 'password_login_off'],
  }),
}
