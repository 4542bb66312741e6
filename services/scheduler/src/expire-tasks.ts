import { advanceQueuesOf } from '@belfry/db/queues/advance-queues'
import { expireTasks } from '@belfry/db/tasks/expire-tasks'
import { toId } from '@belfry/domain/id'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'
import { drain } from './drain.ts'

/**
 * Ends waiting tasks whose deadline has passed, within two seconds of the deadline. A claim refuses such tasks already.
 * @returns How many tasks expired.
 */
export function expireOverdue(ctx: Context, signal: AbortSignal): Promise<number> {
  return drain(signal, 500, async batchSize => {
    const expired = await expireTasks(ctx.pool, { limit: batchSize })
    if (expired.length === 0) return 0
    if (__FAILPOINTS__) await failpoint('scheduler.tasks_expired')
    const ids = expired.map(({ taskId }) => taskId)
    await advanceQueuesOf(ctx.pool, ids)
    ctx.log.info({ expired: expired.length }, 'tasks.expired')
    for (const { taskId, workspaceId, refusal } of expired) {
      if (refusal === null) continue
      const ids = { task: toId('task', taskId), workspace: toId('ws', workspaceId) }
      ctx.log.error({ ...ids, reason: refusal }, 'callbacks.dropped')
    }
    return expired.length
  })
}
