import { originOfUrl, toId } from '@belfry/domain'
import type { DueTask } from '@belfry/queue'

/** Writes a task as the queue takes it, with what spares the dispatcher a look at it. */
export function toDueTask(task: { id: string; workspaceId: string; url: string }, dueAt: Date): DueTask {
  return {
    id: toId('task', task.id),
    dueAt: dueAt.getTime(),
    workspace: toId('ws', task.workspaceId),
    origin: originOfUrl(task.url),
  }
}
