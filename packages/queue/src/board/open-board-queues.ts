import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { openShards, type QueueConnection } from '../connection.ts'
import { type DispatchJob, dueIn, type ReadableJob, tasksOf } from '../dispatch-job.ts'

/**
 * Opens the dispatch queue for the operators' board, with a queue for each shard. It is read-only: PostgreSQL decides about tasks, so an
 * action on a job would have no effect.
 */
export function openBoardQueues(connection: QueueConnection) {
  const dispatch = openShards(connection)
  const adapters = dispatch.bulls.map((bull, shard) => {
    const adapter = new BullMQAdapter(bull, {
      readOnlyMode: true,
      prefix: shard === 0 ? '' : `shard-${shard}-`,
      description: 'Tasks that are due within five minutes. PostgreSQL has all of them.',
    })
    adapter.setFormatter('data', describeJob)
    adapter.setFormatter('name', titleOf)
    return adapter
  })
  return { adapters, close: dispatch.close }
}

/** Describes the tasks of a job: their ids, due times and, where the data has them, workspaces and targets. */
export function describeJob(data: DispatchJob): object {
  const tasks = tasksOf({ name: '', data }).map(({ id, dueAt, workspace, origin }) => ({
    task: id,
    due_at: new Date(dueAt).toISOString(),
    ...(workspace === undefined ? {} : { workspace, target: origin }),
  }))
  return { count: tasks.length, tasks }
}

/** Returns the title of a job. For a job of one task it includes the workspace and the target, where the job has them. */
export function titleOf({ name, data }: ReadableJob): string {
  const [task, ...others] = tasksOf({ name, data })
  if (!task || others.length > 0 || task.workspace === undefined) return name
  return `task ${dueIn(task.dueAt)}, ${task.workspace} to ${task.origin}`
}
