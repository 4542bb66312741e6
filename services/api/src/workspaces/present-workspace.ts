import type { Workspace } from '@belfry/contract'
import { toId } from '@belfry/domain'

type WorkspaceRow = { id: string; organizationId: string; name: string; createdAt: Date; updatedAt: Date }

export function presentWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: toId('ws', row.id),
    organization_id: toId('org', row.organizationId),
    name: row.name,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
