import type { CreateTaskBody, FieldError } from '@belfry/contract'
import type { NewTask } from '@belfry/db'
import { newUuid } from '@belfry/domain'
import type { Context } from '../context.ts'
import { inspectCallbacks } from './callbacks.ts'
import { inspectExecuteAt } from './execute-at.ts'
import { inspectTarget } from './inspect-target.ts'
import { toStoredRequest } from './stored-request.ts'

/** Returns the task that a body asks for. `bodyText` is the text that the body was parsed from. */
export function toNewTask(workspaceId: string, body: CreateTaskBody, bodyText: string): NewTask & { executeAt: Date } {
  return {
    ...toStoredRequest(body, bodyText),
    id: newUuid(),
    workspaceId,
    source: 'task',
    executeAt: body.execute_at,
    name: body.name,
    topic: null,
    eventId: null,
    replayOf: null,
  }
}

/** Returns the errors in the body of a task that a schema cannot find. */
export function inspectNewTask(
  ctx: Pick<Context, 'clock' | 'config'>,
  body: unknown,
  schemaErrors: FieldError[],
): FieldError[] {
  return [...inspectTarget(ctx, body), ...inspectCallbacks(ctx, body), ...inspectExecuteAt(ctx, body, schemaErrors)]
}
