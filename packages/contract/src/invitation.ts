import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { signedIn } from './auth.ts'
import { textField } from './fields.ts'
import { idField, timestampField } from './response-fields.ts'
import { displayName, emailAddress, id, newPassword } from './text-rules.ts'

const maxWorkspaces = 100

const invitationStatuses = ['pending', 'accepted', 'revoked', 'expired'] as const

export const createInvitationBody = z
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
export const invitation = z
  .object({
    id: idField('inv'),
    organization_id: idField('org'),
    email: z.string().meta({ format: 'email', examples: ['ada@example.com'] }),
    role: z.enum(roles),
    workspace_role: z.enum(workspaceRoles).meta({ description: 'The role in the workspaces.' }),
    workspace_ids: z.array(idField('ws')).meta({ description: 'The workspaces that the user joins at once.' }),
    status: z.enum(invitationStatuses),
    invited_by: z.object({ id: idField('user'), name: z.string().meta({ examples: ['Ada Lovelace'] }) }),
    created_at: timestampField(),
    expires_at: timestampField(),
  })
  .meta({ id: 'Invitation' })

export type Invitation = z.infer<typeof invitation>

/** The details of an invitation that its link reveals before it is accepted. */
export const invitationPreview = z
  .object({
    organization: z.object({ name: z.string().meta({ examples: ['Acme'] }) }),
    invited_by: z.object({ name: z.string().meta({ examples: ['Ada Lovelace'] }) }),
    email: z.string().meta({ format: 'email', examples: ['grace@example.com'] }),
    role: z.enum(roles),
    workspaces: z.array(z.object({ name: z.string().meta({ examples: ['Production'] }) })),
    has_account: z.boolean().meta({ description: 'Whether to sign in rather than register.' }),
    expires_at: timestampField(),
  })
  .meta({ id: 'InvitationPreview' })

export type InvitationPreview = z.infer<typeof invitationPreview>

const token = z.string().min(1).max(200).meta({ description: 'The token in the link of the mail.' })

export const invitationTokenBody = z.strictObject({ token })

const account = { name: textField(displayName).optional(), password: textField(newPassword).optional() }

/** Empty for a signed-in user. A name and a password create an account for the invited address. */
export const acceptInvitationBody = withWholeAccount(z.strictObject(account))

export type AcceptInvitationBody = z.infer<typeof acceptInvitationBody>

export const acceptInvitationWithTokenBody = withWholeAccount(z.strictObject({ token, ...account }))

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

export const acceptedInvitation = z
  .object({
    organization: z.object({
      id: idField('org'),
      name: z.string().meta({ examples: ['Acme'] }),
      slug: z.string().meta({ examples: ['acme'] }),
    }),
    role: z.enum(roles),
    workspace_ids: z.array(idField('ws')),
    session: signedIn.nullable().meta({ description: 'The session of a new account; null for a signed-in user.' }),
  })
  .meta({ id: 'AcceptedInvitation' })

export type AcceptedInvitation = z.infer<typeof acceptedInvitation>

/** Why an invitation cannot be read. */
export const unusableInvitation = ['not_found', 'invitation_used', 'invitation_revoked', 'invitation_expired'] as const

/** Why an invitation cannot be accepted. */
export const refusedAcceptance = [
  ...unusableInvitation,
  'unauthenticated',
  'invitation_email_mismatch',
  'email_taken',
  'already_member',
  'registration_closed',
  'password_login_off',
  'quota_exceeded',
  'rate_limited',
] as const
