import { z } from 'zod'
import { textField } from './fields.ts'
import { line } from './text-rules.ts'

export const createOrganizationBody = z.strictObject({ name: textField(line(200)) })

export type CreateOrganizationBody = z.infer<typeof createOrganizationBody>

/** Spec 2.5: what members may do in all workspaces of the organization. */
export type OrganizationPolicy = {
  members_can_invite: boolean
  members_can_create_api_keys: boolean
  members_can_create_secrets: boolean
  members_can_create_workspaces: boolean
  members_can_delete_tasks: boolean
  members_can_manage_integrations: boolean
}

export type Organization = {
  id: string
  name: string
  slug: string
  tier: string
  policy: OrganizationPolicy
  created_at: string
  updated_at: string
}
