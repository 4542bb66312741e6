import { type DispatchJob, tasksOf } from '../dispatch-job.ts'

/** What a job stands for, in words: whose tasks, due when, and which origins they call where the job says so. */
export function describeJob(job: DispatchJob): object {
  const tasks = tasksOf(job).map(({ id, dueAt, workspace, origin }) => ({
    task: id,
    due_at: new Date(dueAt).toISOString(),
    ...(workspace === undefined ? {} : { workspace, target: origin }),
  }))
  return { count: tasks.length, tasks }
}
