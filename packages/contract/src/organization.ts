import { z } from 'zod'
import { integer, textField } from './fields.ts'
import { idField, numberOrNull, shownText, timestampField } from './response-fields.ts'
import { displayName, id, matching } from './text-rules.ts'
import { usage } from './usage.ts'

export const createOrganizationBody = z.strictObject({ name: textField(displayName) })

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

/** The permissions of members in all workspaces of the organization. */
const organizationPolicy = z
  .object({
    members_can_invite: z.boolean(),
    members_can_create_api_keys: z.boolean(),
    members_can_create_secrets: z.boolean(),
    members_can_create_workspaces: z.boolean(),
    members_can_delete_tasks: z.boolean(),
    members_can_manage_integrations: z.boolean(),
  })
  .meta({
    id: 'OrganizationPolicy',
    description: 'The permissions of members, as opposed to owners and admins, in all workspaces of the organization.',
  })

export type OrganizationPolicy = z.infer<typeof organizationPolicy>

export const organization = z
  .object({
    id: idField('org'),
    name: z.string().meta({ examples: ['Acme'] }),
    slug: shownText('Unique; part of dashboard URLs.', 'acme'),
    tier: z.string().meta({ examples: ['startup'] }),
    policy: organizationPolicy,
    max_api_key_days: numberOrNull('How long a new API key is valid at most. Null: without limit.', 90),
    require_second_factor: z
      .boolean()
      .meta({ description: 'Whether members need a second factor. API keys are not affected.', examples: [false] }),
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Organization' })

export type Organization = z.infer<typeof organization>

/** An organization, as its owners see it. */
export const organizationDetail = organization
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

/** The member who becomes an owner in place of the caller, who stays as an admin. */
export const transferOrganizationBody = z.strictObject({ user_id: textField(id('user')) })

/** An organization, as API keys of its workspaces see it. */
export const organizationSummary = organization
  .pick({ id: true, name: true, slug: true, tier: true })
  .meta({ id: 'OrganizationSummary' })

export type OrganizationSummary = z.infer<typeof organizationSummary>
