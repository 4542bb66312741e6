import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { namedOrganization, signedIn } from './auth.ts'
import { linkToken, textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { idField, shownFlag, timestampField } from './response-fields.ts'
import { displayName, emailAddress, id, newPassword } from './text-rules.ts'

const maxWorkspaces = 100

const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const

const createInvitationBody = z
  .strictObject({
    email: textField(emailAddress),
    role: z.enum(roles),
    workspace_role: z.enum(workspaceRoles).default('viewer'),
    workspace_ids: z
      .array(textField(id('ws')))
      .max(maxWorkspaces)
      .default([]),
  })
  .meta({ examples: [{ email: 'ada@example.com', role: 'member', workspace_role: 'viewer' }] })

export type CreateInvitationBody = z.infer<typeof createInvitationBody>

/** An invitation, for users who may invite. Only the mail has its link. */
const invitation = namedObject('Invitation', {
  id: idField('inv'),
  organization_id: idField('org'),
  email: z.string().meta({ format: 'email', examples: ['ada@example.com'] }),
  role: z.enum(roles),
  workspace_role: z.enum(workspaceRoles).meta({ description: 'The role in the workspaces.' }),
  workspace_ids: z.array(idField('ws')).meta({ description: 'The workspaces that the user joins at once.' }),
  status: z.enum(invitationStatuses).meta({ description: 'Whether it is pending, accepted, revoked or expired.' }),
  invited_by: z.object({ id: idField('user'), name: z.string().meta({ examples: ['Ada Lovelace'] }) }),
  created_at: timestampField(),
  expires_at: timestampField(),
})

export type Invitation = z.infer<typeof invitation>

/** The details of an invitation that its link reveals before it is accepted. */
const invitationPreview = namedObject('InvitationPreview', {
  organization: z.object({ name: z.string().meta({ examples: ['Acme'] }) }),
  invited_by: z.object({ name: z.string().meta({ examples: ['Ada Lovelace'] }) }),
  email: z.string().meta({ format: 'email', examples: ['grace@example.com'] }),
  role: z.enum(roles),
  workspaces: listOf({ name: z.string().meta({ examples: ['Production'] }) }),
  has_account: shownFlag('Whether to sign in rather than register.'),
  expires_at: timestampField(),
})

export type InvitationPreview = z.infer<typeof invitationPreview>

const account = { name: textField(displayName).optional(), password: textField(newPassword).optional() }

/** Empty for a signed-in user. A name and a password create an account for the invited address. */
const acceptInvitationBody = withWholeAccount(z.strictObject(account))

export type AcceptInvitationBody = z.infer<typeof acceptInvitationBody>

function withWholeAccount<T extends { name?: string | undefined; password?: string | undefined }>(
  body: z.ZodType<T>,
): z.ZodType<T> {
  return body
    .refine(({ name, password }) => name === undefined || password !== undefined, {
      path: ['password'],
      params: { code: 'required', must: 'be sent with a name, to create an account' },
    })
    .refine(({ name, password }) => password === undefined || name !== undefined, {
      path: ['name'],
      params: { code: 'required', must: 'be sent with a password, to create an account' },
    })
}

const acceptedInvitation = namedObject('AcceptedInvitation', {
  organization: z.object(namedOrganization),
  role: z.enum(roles),
  workspace_ids: z.array(idField('ws')),
  session: signedIn.nullable().meta({ description: 'The session of a new account; null for a signed-in user.' }),
})

export type AcceptedInvitation = z.infer<typeof acceptedInvitation>

const unusableInvitation = ['not_found', 'invitation_used', 'invitation_revoked', 'invitation_expired'] as const

const refusedAcceptance = [
  ...unusableInvitation,
  'unauthenticated',
  'invitation_email_mismatch',
  'email_taken',
  'already_member',
  'organization_limit_reached',
  'registration_closed',
  'password_login_off',
  'quota_exceeded',
  'rate_limited',
] as const

export const invitationsOperations = {
  listInvitations: operation('GET', '/api/v1/organizations/:org/invitations', {
    right: 'invitation.read',
    summary: 'List the invitations of an organization, including those that have ended',
    query: listQuery,
    response: { status: 200, body: pageOf(invitation) },
  }),

  createInvitation: operation('POST', '/api/v1/organizations/:org/invitations', {
    right: 'invitation.create',
    summary: 'Invite a user by email; the link in the mail is valid for seven days and for one use',
    body: createInvitationBody,
    response: { status: 201, body: invitation },
    errors: ['already_member', 'already_invited', 'conflict', 'quota_exceeded', 'rate_limited'],
  }),

  revokeInvitation: operation('DELETE', '/api/v1/organizations/:org/invitations/:inv', {
    right: 'invitation.revoke',
    summary: 'Revoke an invitation; its link stops working',
    errors: ['invitation_used'],
  }),

  resendInvitation: operation('POST', '/api/v1/organizations/:org/invitations/:inv/resend', {
    right: 'invitation.create',
    summary: 'Resend an invitation with a new link that is valid for seven days; the old link ends',
    response: { status: 200, body: invitation },
    errors: ['already_member', 'invitation_used', 'invitation_revoked', 'conflict', 'quota_exceeded', 'rate_limited'],
  }),

  previewInvitation: operation('POST', '/api/v1/invitations/preview', {
    right: 'public',
    summary: 'Read an invitation by its token',
    body: z.strictObject({ token: linkToken }),
    response: { status: 200, body: invitationPreview },
    errors: unusableInvitation,
  }),

  acceptInvitation: operation('POST', '/api/v1/invitations/accept', {
    right: 'public',
    summary: 'Accept an invitation as the signed-in user, or create an account with it',
    body: withWholeAccount(z.strictObject({ token: linkToken, ...account })),
    response: { status: 200, body: acceptedInvitation, setsCookie: true },
    errors: refusedAcceptance,
  }),

  getInvitation: operation('GET', '/api/v1/invitations/:token', {
    right: 'public',
    summary: 'Read an invitation by a token in the path, which proxies may log',
    response: { status: 200, body: invitationPreview },
    errors: unusableInvitation,
  }),

  acceptInvitationOfPath: operation('POST', '/api/v1/invitations/:token/accept', {
    right: 'public',
    summary: 'Accept an invitation by a token in the path, which proxies may log',
    body: acceptInvitationBody,
    response: { status: 200, body: acceptedInvitation, setsCookie: true },
    errors: refusedAcceptance,
  }),
}
