import { expireAuditLog, organizationsWithAuditLog } from '@belfry/db'
import type { Context } from './context.ts'
import { drain } from './drain.ts'

const batchSize = 1000
const organizationsPerPage = 500

/** Deletes the audit entries that are older than their organization's tier keeps them. Returns how many there were. */
export async function expireAuditLogs(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (let after: string | null = null; !signal.aborted; ) {
    const page = await organizationsWithAuditLog(ctx.pool, ctx.tiers, after, organizationsPerPage)
    for (const kept of page) {
      if (signal.aborted) break
      total += await drain(signal, batchSize, limit => expireAuditLog(ctx.pool, kept, limit))
    }
    after = page.at(-1)?.organizationId ?? null
    if (page.length < organizationsPerPage) break
  }
  if (total > 0) ctx.log.info({ entries: total }, 'audit_log.expired')
  return total
}
