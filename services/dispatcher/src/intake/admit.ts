import { retryDatabase } from '@belfry/db/postgres/retry-database'
import type { Context } from '../context.ts'
import { positionBefore } from './backlog.ts'
import { requeue } from './requeue.ts'
import { queueWhenDue, startAttempts } from './start-attempts.ts'
import type { BufferedTask, IncomingTask } from './task-buffer.ts'

/**
 * Buffers tasks, and starts the attempts that may start. Tasks that the full buffer refuses stay in PostgreSQL, and
 * enter the backlog. Tasks of suspended workspaces stay there too.
 * @returns How many tasks were taken, and how many were refused.
 */
export function admit(ctx: Context, tasks: readonly IncomingTask[]): { taken: number; refused: number } {
  const count = { taken: 0, refused: 0 }
  const ofUnknown = new Map<string, BufferedTask[]>()
  for (const task of tasks) {
    const tenant = ctx.tenants.find(task.workspace)
    if (tenant?.isSuspended) continue
    const buffered = ctx.buffer.add(task, tenant?.account)
    if (buffered === 'full') {
      ctx.backlog.add(task.workspace, task.dueAt, positionBefore(task))
      count.refused++
    } else if (buffered !== 'duplicate') {
      if (tenant) queueWhenDue(ctx, buffered)
      else {
        const others = ofUnknown.get(task.workspace)
        if (others) others.push(buffered)
        else ofUnknown.set(task.workspace, [buffered])
      }
      count.taken++
    }
  }
  for (const [workspace, buffered] of ofUnknown) queueWhenKnown(ctx, workspace, buffered)
  startAttempts(ctx)
  return count
}

// The share of a task depends on its tenant. Once that is known, tasks of the workspace are queued without a statement.
function queueWhenKnown(ctx: Context, workspace: string, tasks: readonly BufferedTask[]): void {
  const onWait = (error: unknown) => ctx.log.warn({ err: error }, 'tenants.waiting_for_database')
  retryDatabase(() => ctx.tenants.load(workspace), { onWait, signal: ctx.stop })
    .then(() => queueUnlessStopped(ctx, tasks))
    .catch(error => {
      ctx.log.warn({ err: error }, 'tenants.unknown')
      return requeue(ctx, tasks)
    })
}

/** Queues buffered tasks at their time. When the process stops, they are requeued instead. */
export async function queueUnlessStopped(ctx: Context, tasks: readonly BufferedTask[]): Promise<void> {
  if (ctx.stop.aborted) return requeue(ctx, tasks)
  for (const task of tasks) queueWhenDue(ctx, task)
  startAttempts(ctx)
}
