import { type Task, task } from '@belfry/contract'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { presentTask } from './present-task.ts'
import { findTask } from './task-row.ts'

export const getTask = endpoint({
  right: 'task.read',
  summary: 'Read a task',
  answer: { status: 200, body: task },
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    return ok(await readTask(ctx, caller.workspaceId, params.task))
  },
})

/** Reads a task in its public form. */
export async function readTask(ctx: Context, workspaceId: string, id: string): Promise<Task> {
  const row = await findTask(ctx.pool, workspaceId, id)
  if (!row) throw notFound()
  return presentTask(row)
}
