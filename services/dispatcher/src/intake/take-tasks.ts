import { fromId } from '@belfry/domain'
import type { DueTask } from '@belfry/queue'
import type { Context } from '../context.ts'
import { admit } from './admit.ts'
import { askDatabase } from './ask-database.ts'
import type { TaskInHand } from './hand.ts'
import { targetOf } from './target-of.ts'

/**
 * Takes the tasks of a job in hand, or leaves them to PostgreSQL; asks it first for what the job does not say. Never waits
 * for a task's instant or turn, so that the tasks of one workspace do not stand before another's in the queue. Rejects,
 * with nothing taken, when the signal is aborted first.
 */
export async function takeTasks(ctx: Context, tasks: readonly DueTask[], signal: AbortSignal): Promise<void> {
  const taken: TaskInHand[] = []
  const asked: Array<Promise<TaskInHand | null>> = []
  const workspaces = new Map<string, string | null>()
  for (const task of tasks) {
    const id = fromId('task', task.id)
    const workspace = task.workspace === undefined ? null : workspaceOf(task.workspace, workspaces)
    if (id === null) ctx.log.warn({ job: task.id }, 'job.unknown')
    else if (workspace === null || task.origin === undefined) asked.push(locate(ctx, id, task.dueAt, signal))
    else taken.push(toTaskInHand(id, workspace, task.dueAt, task.origin))
  }
  for (const task of await Promise.all(asked)) if (task !== null) taken.push(task)
  signal.throwIfAborted()
  admit(ctx, taken)
}

function workspaceOf(id: string, known: Map<string, string | null>): string | null {
  const read = known.get(id)
  if (read !== undefined) return read
  const workspace = fromId('ws', id)
  known.set(id, workspace)
  return workspace
}

async function locate(ctx: Context, id: string, dueAt: number, signal: AbortSignal): Promise<TaskInHand | null> {
  const found = await askDatabase(ctx, () => ctx.locate(id), signal)
  return found && toTaskInHand(id, found.workspaceId, dueAt, found.origin)
}

function toTaskInHand(id: string, workspace: string, dueAt: number, origin: string): TaskInHand {
  return { id, workspace, dueAt, ...targetOf(origin) }
}
