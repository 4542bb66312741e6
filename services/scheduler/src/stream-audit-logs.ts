import {
  closeUnusedAuditFile,
  dropUnstreamedEntries,
  openAuditFile,
  sendAuditEntries,
  writeAuditEntries,
} from '@belfry/db/audit-streams/take-entries'
import type { Message } from '@belfry/messages'
import { appendLines } from './append-lines.ts'
import type { Context } from './context.ts'
import { drain } from './drain.ts'

/** Stores messages with the new audit entries for the webhooks of organizations. Returns how many messages there were. */
export function sendAuditLogs(ctx: Context, signal: AbortSignal): Promise<number> {
  return drain(signal, 1, () => sendAuditEntries(ctx.pool, contentOf))
}

function contentOf(organizationId: string, lines: string): string {
  return JSON.stringify({ type: 'audit_log', organizationId, lines } satisfies Message)
}

/** Appends the new audit entries of the installation to the file of `AUDIT_LOG_FILE`. Returns how many entries there were. */
export function writeAuditFile(ctx: Context, signal: AbortSignal, file: string): Promise<number> {
  return drain(signal, 1, () => writeAuditEntries(ctx.pool, lines => appendLines(file, lines)))
}

/** Starts the stream of the file where this scheduler has one. @throws Error when it cannot open the file. */
export async function startAuditFile({ auditLogFile, pool }: Context): Promise<void> {
  if (auditLogFile === null) return
  await appendLines(auditLogFile, '')
  await openAuditFile(pool)
}

/** Keeps the stream of the file, and removes the entries that streams have left. */
export async function tidyAuditStreams(ctx: Context, signal: AbortSignal): Promise<void> {
  if (ctx.auditLogFile !== null) await openAuditFile(ctx.pool)
  else if (await closeUnusedAuditFile(ctx.pool)) ctx.log.info('audit_file.closed')
  await drain(signal, 1_000, limit => dropUnstreamedEntries(ctx.pool, limit))
}
