import { toId } from '@belfry/domain/id'
import { enqueueDue } from '../attempt/follow-up.ts'
import type { Context } from '../context.ts'
import { abandonClaim } from './pending-claim.ts'
import { undoPrefetched } from './prefetch-claims.ts'
import type { BufferedTask } from './task-buffer.ts'

/** Evicts tasks that this process has not claimed, and adds jobs for those that are due soon. Never rejects. */
export async function requeue(ctx: Context, tasks: readonly BufferedTask[]): Promise<void> {
  for (const task of tasks) {
    ctx.buffer.evict(task)
    abandonClaim(ctx, task)
  }
  const due = tasks.flatMap(({ id, workspace, dueAt, origin, onSlot }) => {
    if (onSlot) return [] // a quarantine process finds it again
    return [{ id: toId('task', id), workspace: toId('ws', workspace), dueAt: Math.round(dueAt), origin }]
  })
  await enqueueDue(ctx, due, ctx.clock.now())
}

/** Requeues every buffered task that has no slot, when the process stops. */
export async function requeueAll(ctx: Context): Promise<void> {
  const deferred = [...ctx.deferred.keys()]
  ctx.deferred.clear()
  const tasks = await undoPrefetched(ctx, [...deferred, ...ctx.timers.takeAll(), ...ctx.hostQueues.take(() => true)])
  await requeue(ctx, tasks)
  if (tasks.length > 0) ctx.log.info({ tasks: tasks.length }, 'tasks.requeued')
}
