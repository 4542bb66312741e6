import { type DispatchJob, dueIn, type ReadableJob, tasksOf } from '../dispatch-job.ts'

/** What a job stands for, in words: whose tasks, due when, and which origins they call where the data say so. */
export function describeJob(data: DispatchJob): object {
  const tasks = tasksOf({ name: '', data }).map(({ id, dueAt, workspace, origin }) => ({
    task: id,
    due_at: new Date(dueAt).toISOString(),
    ...(workspace === undefined ? {} : { workspace, target: origin }),
  }))
  return { count: tasks.length, tasks }
}

/** The title of a job: of a task that travels alone also whose it is, and which origin it calls if the job says so. */
export function titleOf({ name, data }: ReadableJob): string {
  const [task, ...others] = tasksOf({ name, data })
  if (!task || others.length > 0 || task.workspace === undefined) return name
  return `task ${dueIn(task.dueAt)}, ${task.workspace} to ${task.origin}`
}
