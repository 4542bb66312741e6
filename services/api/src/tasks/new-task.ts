import type { CreateTaskBody, FieldError } from '@belfry/contract'
import type { NewTask, OnConflict, TaskControls } from '@belfry/db'
import { newUuid } from '@belfry/domain'
import type { Context } from '../context.ts'
import { inspectCallbacks } from './callbacks.ts'
import { inspectExecuteAt } from './execute-at.ts'
import { inspectControls } from './inspect-controls.ts'
import { inspectTarget } from './inspect-target.ts'
import { toStoredRequest } from './stored-request.ts'

/** Returns the task that a body asks for. `bodyText` is the text that the body was parsed from. */
export function toNewTask(workspaceId: string, body: CreateTaskBody, bodyText: string) {
  const task: NewTask & { executeAt: Date; onConflict?: OnConflict } = {
    ...toStoredRequest(body, bodyText),
    id: newUuid(),
    workspaceId,
    source: 'task',
    executeAt: body.execute_at,
    name: body.name,
    topic: null,
    eventId: null,
    replayOf: null,
    ...toControls(body),
  }
  if (body.on_conflict) task.onConflict = body.on_conflict
  return task
}

/** Returns the deadline, the key and the labels of a new task. */
export function toControls(body: Pick<CreateTaskBody, 'expires_at' | 'key' | 'labels'>): TaskControls {
  return { expiresAt: body.expires_at ?? null, key: body.key ?? null, labels: toLabels(body.labels) }
}

/** Returns labels as they are stored: null when there are none. */
export function toLabels(labels: readonly string[] | undefined): readonly string[] | null {
  return labels?.length ? labels : null
}

/** Returns the errors in the body of a task that a schema cannot find. */
export function inspectNewTask(
  ctx: Pick<Context, 'clock' | 'config'>,
  body: unknown,
  schemaErrors: FieldError[],
): FieldError[] {
  return [
    ...inspectTarget(ctx, body),
    ...inspectCallbacks(ctx, body),
    ...inspectExecuteAt(ctx, body, schemaErrors),
    ...inspectControls(body),
  ]
}
