import { type CronJobMove, inTransaction, type Transaction } from '@belfry/db'
import { type AuditAction, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { enqueue } from '../tasks/enqueue.ts'
import { neverRuns } from './inspect-schedule.ts'

/**
 * Changes a cron job and records that in the audit log, in one transaction. A change without an effect is not recorded.
 * @throws AppError `not_found`, or `validation_failed` when the cron job would never run again.
 */
export async function moveCronJob(
  ctx: Context,
  caller: WorkspaceCaller,
  { id, action, body }: { id: string; action: AuditAction; body?: Readonly<Record<string, unknown>> },
  move: (tx: Transaction) => Promise<CronJobMove>,
): Promise<void> {
  // A URL or a header may hold a secret, so the record has the names of the changed fields and not their values.
  const fields = body && { fields: Object.keys(body) }
  const moved = await inTransaction(ctx.pool, async tx => {
    const moved = await move(tx)
    if (moved.kind === 'moved' && moved.isChanged) {
      await audit(tx, caller, { action, objectId: toId('cron', id), details: { name: moved.name, ...fields } })
    }
    return moved
  })
  if (moved.kind === 'unknown') throw notFound()
  if (moved.kind === 'never_runs') throw neverRuns(body ?? {})
  enqueue(ctx, moved.expansion.tasks, moved.expansion.now)
}
