import type { CreateTaskBody, FieldError } from '@belfry/contract'
import type { NewTask } from '@belfry/db'
import { newUuid } from '@belfry/domain'
import type { Context } from '../context.ts'
import { inspectExecuteAt } from './execute-at.ts'
import { inspectTarget } from './inspect-target.ts'
import { toStoredRequest } from './stored-request.ts'

/** A task as a caller asks for it. `bodyText` is the text that the body was read from. */
export function toNewTask(workspaceId: string, body: CreateTaskBody, bodyText: string): NewTask & { executeAt: Date } {
  const request = toStoredRequest(body, bodyText)
  // Member by member: a spread takes several times as long.
  return {
    id: newUuid(),
    workspaceId,
    source: 'task',
    executeAt: body.execute_at,
    name: body.name,
    url: request.url,
    method: request.method,
    headers: request.headers,
    payload: request.payload,
    maxRetries: request.maxRetries,
    backoff: request.backoff,
    baseDelayMs: request.baseDelayMs,
    maxDelayMs: request.maxDelayMs,
    timeoutMs: request.timeoutMs,
    topic: null,
    eventId: null,
    replayOf: null,
  }
}

/** Faults of the body of a task that a schema cannot know. */
export function inspectNewTask(
  ctx: Pick<Context, 'clock' | 'config'>,
  body: unknown,
  schemaErrors: FieldError[],
): FieldError[] {
  return [...inspectTarget(ctx, body), ...inspectExecuteAt(ctx, body, schemaErrors)]
}
