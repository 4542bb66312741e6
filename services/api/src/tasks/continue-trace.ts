import type { NewTask } from '@belfry/db'
import { readTraceparent } from '@belfry/domain'
import type { Request } from 'express'

/** Has the trace that a request belongs to, if it does, go on with the tasks that it asks for. */
export function continueTrace<Task extends NewTask>(request: Request, tasks: Task[]): Task[] {
  const traceparent = readTraceparent(request.headers.traceparent)
  if (traceparent !== null) for (const task of tasks) task.traceparent = traceparent
  return tasks
}
