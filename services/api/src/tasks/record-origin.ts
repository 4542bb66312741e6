import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import type { TaskOrigin } from '@belfry/db/tasks/replay-task'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { readTraceparent } from '@belfry/domain/traceparent'
import { depthHeader, maxDepth, readDepth } from '@belfry/vault'
import type { Request } from 'express'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'

/** A request that creates tasks, and its caller. */
export type Created = { caller: WorkspaceCaller; request: Request }

/**
 * Records on new tasks who created them, after how many calls of Belfry in a row, and the caller's trace if it has one.
 * @throws AppError `loop_detected`.
 */
export function recordOrigin<Task extends NewTask>(ctx: Pick<Context, 'config'>, created: Created, tasks: Task[]) {
  const traceparent = readTraceparent(created.request.headers.traceparent)
  const origin = originOf(ctx, created)
  for (const task of tasks) Object.assign(task, origin, traceparent === null ? {} : { traceparent })
  return tasks
}

/**
 * Returns the origin of the tasks of a request. A target that creates the next task through the API makes a loop, which
 * ends here.
 * @throws AppError `loop_detected`.
 */
export function originOf({ config }: Pick<Context, 'config'>, { caller, request }: Created): TaskOrigin {
  const value = request.headers[depthHeader.toLowerCase()]
  const depth = value === undefined ? 0 : readDepth(config.masterKeys, String(value))
  if (depth > maxDepth) {
    const detail = `Belfry called the sender of this request after ${maxDepth} calls in a row of the same kind.`
    throw new AppError('loop_detected', `${detail} Such a request creates no task.`)
  }
  return { createdBy: authorOf(caller), depth: depth === 0 ? null : depth }
}

/** Returns the public id of the user or the API key that makes a request. */
export function authorOf({ user, apiKeyId }: Pick<WorkspaceCaller, 'user' | 'apiKeyId'>): string {
  return user ? toId('user', user.userId) : toId('key', String(apiKeyId))
}
