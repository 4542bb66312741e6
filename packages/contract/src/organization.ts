import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { memberUser } from './auth.ts'
import { integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { idField, numberOrNull, shownFlag, shownText, timestampField } from './response-fields.ts'
import { displayName, id, matching } from './text-rules.ts'
import { usage } from './tier.ts'

/** The part of a dashboard URL that names an organization. */
const slug = matching(
  {
    minLength: 2,
    maxLength: 63,
    pattern: '^[a-z0-9](-?[a-z0-9])*$',
    description: 'Unique; part of dashboard URLs.',
    examples: ['acme-europe'],
  },
  'invalid_slug',
  'be 2 to 63 lower-case letters and digits, with single hyphens between them',
)

const organizationPolicy = z
  .object({
    members_can_invite: shownFlag('Whether members may invite users, and list and revoke invitations.'),
    members_can_create_api_keys: shownFlag('Whether members may list, create and revoke API keys.'),
    members_can_create_secrets: shownFlag(
      'Whether members may list, create, replace and delete secrets and signing secrets, and change connections.',
    ),
    members_can_create_workspaces: shownFlag('Whether members may create workspaces.'),
    members_can_delete_tasks: shownFlag(
      'Whether members may cancel and stop tasks, discard dead letters, and delete cron jobs, queues and subscriptions.',
    ),
    members_can_manage_integrations: shownFlag('Whether members may manage integrations.'),
  })
  .meta({
    id: 'OrganizationPolicy',
    description: 'The permissions of members, as opposed to owners and admins, in all workspaces of the organization.',
  })

export type OrganizationPolicy = z.infer<typeof organizationPolicy>

const organization = namedObject('Organization', {
  id: idField('org'),
  name: z.string().meta({ examples: ['Acme'] }),
  slug: shownText('Unique; part of dashboard URLs.', 'acme'),
  tier: z.string().meta({ examples: ['startup'] }),
  policy: organizationPolicy,
  max_api_key_days: numberOrNull('How long a new API key is valid at most. Null: without limit.', 90),
  require_second_factor: shownFlag('Whether members need a second factor. API keys are not affected.', false),
  created_at: timestampField(),
  updated_at: timestampField(),
})

export type Organization = z.infer<typeof organization>

/** An organization, as its owners see it. */
const organizationDetail = organization
  .extend({
    usage: usage.omit({ daily: true }).optional().meta({ description: 'Usage of the tier. Owners only.' }),
  })
  .meta({ id: 'OrganizationDetail' })

/** The body that changes an organization. Omitted fields and policy flags stay unchanged. */
export const updateOrganizationBody = z.strictObject({
  name: textField(displayName).optional(),
  slug: textField(slug).optional(),
  policy: z.strictObject(organizationPolicy.partial().shape).optional(),
  max_api_key_days: integer(1, 3650).nullable().optional(),
  require_second_factor: z.boolean().optional().meta({ description: 'Owners only.' }),
})

export type UpdateOrganizationBody = z.infer<typeof updateOrganizationBody>

/** An organization, as API keys of its workspaces see it. */
const organizationSummary = organization
  .pick({ id: true, name: true, slug: true, tier: true })
  .meta({ id: 'OrganizationSummary' })

export type OrganizationSummary = z.infer<typeof organizationSummary>

const member = namedObject('Member', {
  user: memberUser,
  role: z.enum(roles),
  workspace_role: z
    .enum(workspaceRoles)
    .meta({ description: 'The default role in workspaces that the member joins later, from the invitation.' }),
  joined_at: timestampField(),
})

export type Member = z.infer<typeof member>

export const organizationsOperations = {
  listOrganizations: operation('GET', '/api/v1/organizations', {
    right: 'signed_in',
    summary: 'List the organizations of the signed-in user',
    client: 'organizations.list',
    query: listQuery,
    response: { status: 200, body: pageOf(organization) },
  }),

  createOrganization: operation('POST', '/api/v1/organizations', {
    right: 'signed_in',
    summary: 'Create an organization, of which the caller becomes the owner',
    client: 'organizations.create',
    body: z.strictObject({ name: textField(displayName) }),
    response: { status: 201, body: organization },
    errors: ['email_not_confirmed', 'organization_limit_reached'],
  }),

  getOrganization: operation('GET', '/api/v1/organizations/:org', {
    right: 'organization.read',
    summary: 'Read an organization; owners see its usage, an API key sees its name, slug and tier',
    description: 'With an API key of one of its workspaces it is a summary without `policy`.',
    client: 'organizations.get',
    response: { status: 200, body: z.union([organizationDetail, organizationSummary]) },
  }),

  updateOrganization: operation('PATCH', '/api/v1/organizations/:org', {
    right: 'organization.change',
    summary: 'Change the name, the slug or the policy of an organization',
    description: 'Omitted fields stay unchanged, also within `policy`.',
    client: 'organizations.update',
    body: updateOrganizationBody,
    response: { status: 200, body: organization },
    errors: ['slug_taken', 'second_factor_required', 'step_up_required'],
  }),

  deleteOrganization: operation('DELETE', '/api/v1/organizations/:org', {
    right: 'organization.delete',
    summary: 'Delete an organization that has no workspace left',
    description: 'Requires an owner.',
    client: 'organizations.delete',
    errors: ['conflict', 'step_up_required'],
  }),

  listMembers: operation('GET', '/api/v1/organizations/:org/members', {
    right: 'member.read',
    summary: 'List the members of an organization',
    client: 'organizations.members',
    query: listQuery,
    response: { status: 200, body: pageOf(member) },
  }),

  updateMember: operation('PATCH', '/api/v1/organizations/:org/members/:user', {
    right: 'member.manage',
    summary: 'Change the role of a member; only owners may add or remove owners',
    body: z.strictObject({ role: z.enum(roles) }),
    response: { status: 200, body: member },
    errors: ['last_owner', 'organization_limit_reached'],
  }),

  removeMember: operation('DELETE', '/api/v1/organizations/:org/members/:user', {
    right: 'member.leave',
    summary: 'Remove a member from an organization and its workspaces, or leave it',
    errors: ['last_owner'],
  }),

  transferOrganization: operation('POST', '/api/v1/organizations/:org/transfer', {
    right: 'organization.transfer',
    summary: 'Make another member an owner in place of the caller, who stays as an admin',
    body: z.strictObject({ user_id: textField(id('user')) }),
    response: { status: 200, body: member },
    errors: ['step_up_required', 'organization_limit_reached'],
  }),
}
