import type { Subscription } from '@belfry/contract'
import type { StoredRequest } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { presentRetry } from '../tasks/present-task.ts'

type SubscriptionRow = Omit<StoredRequest, 'method' | 'payload'> & {
  id: string
  workspaceId: string
  topic: string
  active: boolean
  createdAt: Date
  updatedAt: Date
}

/** Reads a subscription in its public form. */
export async function readSubscription(ctx: Context, workspaceId: string, id: string): Promise<Subscription> {
  const row = await ctx.prisma.subscription.findFirst({ where: { id, workspaceId } })
  if (!row) throw notFound()
  return presentSubscription(row)
}

/** Returns the public form of a subscription. */
export function presentSubscription(row: SubscriptionRow): Subscription {
  return {
    id: toId('sub', row.id),
    workspace_id: toId('ws', row.workspaceId),
    topic: row.topic,
    url: row.url,
    headers: JSON.parse(row.headers),
    retry: presentRetry(row),
    timeout_ms: row.timeoutMs,
    active: row.active,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
