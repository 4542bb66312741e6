import type { DeadLetterOperation } from '@belfry/contract'
import type { DeadLetterOperation as Row } from '@belfry/db'
import { toId } from '@belfry/domain'

/** Returns the public form of an operation. */
export function presentOperation(row: Row): DeadLetterOperation {
  return {
    id: toId('op', row.id),
    workspace_id: toId('ws', row.workspaceId),
    action: row.action,
    filter: {
      cronjob_id: row.cronJobId && toId('cron', row.cronJobId),
      topic: row.topic,
      from: row.executeFrom?.toISOString() ?? null,
      to: row.executeTo?.toISOString() ?? null,
    },
    status: statusOf(row),
    total: row.total,
    settled: row.settled,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function statusOf({ cancelled, finishedAt }: Row): DeadLetterOperation['status'] {
  if (cancelled) return 'cancelled'
  return finishedAt === null ? 'running' : 'done'
}
