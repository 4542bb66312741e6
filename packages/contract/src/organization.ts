import { z } from 'zod'
import { idField, timestampField } from './answer-fields.ts'
import { textField } from './fields.ts'
import { line } from './text-rules.ts'

export const createOrganizationBody = z.strictObject({ name: textField(line(200)) })

export type CreateOrganizationBody = z.infer<typeof createOrganizationBody>

/** Spec 2.5: what members may do in all workspaces of the organization. */
export const organizationPolicy = z
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
    description: 'What members, as opposed to owners and admins, may do in all workspaces of the organization.',
  })

export type OrganizationPolicy = z.infer<typeof organizationPolicy>

export const organization = z
  .object({
    id: idField('org'),
    name: z.string().meta({ examples: ['Acme'] }),
    slug: z.string().meta({ description: 'Unique; part of dashboard addresses.', examples: ['acme'] }),
    tier: z.string().meta({ examples: ['startup'] }),
    policy: organizationPolicy,
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Organization' })

export type Organization = z.infer<typeof organization>
