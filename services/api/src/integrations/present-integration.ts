import type { Integration } from '@belfry/contract'
import type { Integration as Row } from '@belfry/db'
import { toId } from '@belfry/domain'

/** The public form of an integration. */
export function presentIntegration(row: Row): Integration {
  return {
    id: toId('int', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    channel: row.channel,
    events: row.events,
    target: row.shownTarget,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
