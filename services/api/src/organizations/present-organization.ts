import type { Organization, OrganizationSummary } from '@belfry/contract'
import { toId } from '@belfry/domain'

export type OrganizationRow = {
  id: string
  name: string
  slug: string
  tier: string
  createdAt: Date
  updatedAt: Date
  membersCanInvite: boolean
  membersCanCreateApiKeys: boolean
  membersCanCreateSecrets: boolean
  membersCanCreateWorkspaces: boolean
  membersCanDeleteTasks: boolean
  membersCanManageIntegrations: boolean
}

export function presentOrganization(row: OrganizationRow): Organization {
  return {
    id: toId('org', row.id),
    name: row.name,
    slug: row.slug,
    tier: row.tier,
    policy: {
      members_can_invite: row.membersCanInvite,
      members_can_create_api_keys: row.membersCanCreateApiKeys,
      members_can_create_secrets: row.membersCanCreateSecrets,
      members_can_create_workspaces: row.membersCanCreateWorkspaces,
      members_can_delete_tasks: row.membersCanDeleteTasks,
      members_can_manage_integrations: row.membersCanManageIntegrations,
    },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

export function presentOrganizationSummary({ id, name, slug, tier }: OrganizationRow): OrganizationSummary {
  return { id: toId('org', id), name, slug, tier }
}
