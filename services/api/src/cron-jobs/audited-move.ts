import { type CronJobMove, inTransaction, type Transaction } from '@belfry/db'
import { type AuditAction, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'

/** Changes a cron job and puts that on record, in one transaction. What changes nothing leaves no trace. */
export function auditedMove(
  ctx: Pick<Context, 'pool'>,
  caller: WorkspaceCaller,
  action: AuditAction,
  id: string,
  move: (tx: Transaction) => Promise<CronJobMove>,
  details: Readonly<Record<string, unknown>> = {},
): Promise<CronJobMove> {
  return inTransaction(ctx.pool, async tx => {
    const moved = await move(tx)
    if (moved.kind === 'moved' && moved.isChanged) {
      await audit(tx, caller, { action, objectId: toId('cron', id), details: { name: moved.name, ...details } })
    }
    return moved
  })
}
