import type { Integration } from '@belfry/contract'
import { findIntegration, type IntegrationTarget, type Integration as Row } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'

/** Reads an integration in its public form. */
export async function readIntegration(ctx: Context, workspaceId: string, id: string): Promise<Integration> {
  const row = await findIntegration(ctx.pool, workspaceId, id)
  if (!row) throw notFound()
  return presentIntegration(row)
}

/** Returns the public form of an integration. */
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

/**
 * Returns the target of an integration, and the part of it that is shown: of a URL the host, since the rest may be a
 * secret.
 */
export function integrationTarget(to: {
  url?: string | undefined
  email?: string | undefined
}): IntegrationTarget | null {
  if (to.url !== undefined) return { target: to.url, shownTarget: new URL(to.url).host }
  return to.email === undefined ? null : { target: to.email, shownTarget: to.email }
}
