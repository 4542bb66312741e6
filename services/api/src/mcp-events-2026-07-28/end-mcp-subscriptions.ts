import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { toId } from '@belfry/domain/id'

/**
 * Ends the subscriptions of an API key together with the key. A trigger cancels what a deleted subscription has not sent.
 * @param endsAt - Null: now.
 */
export async function endMcpSubscriptionsOf(
  tx: PrismaTransaction,
  { workspaceId, keyId, endsAt }: { workspaceId: string; keyId: string; endsAt: Date | null },
): Promise<void> {
  const key = toId('key', keyId)
  if (endsAt === null) {
    await tx.$executeRaw`
      DELETE FROM subscriptions WHERE workspace_id = ${workspaceId}::uuid AND created_by = ${key} AND mcp IS NOT NULL`
  } else {
    await tx.$executeRaw`
      UPDATE subscriptions SET expires_at = least(expires_at, ${endsAt}::timestamptz)
      WHERE workspace_id = ${workspaceId}::uuid AND created_by = ${key} AND mcp IS NOT NULL`
  }
}
