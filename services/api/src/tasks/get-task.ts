import { task } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { ok } from '../http/reply.ts'
import { presentTask } from './present-task.ts'
import { findTask } from './task-row.ts'

export const getTask = endpoint({
  right: 'task.read',
  summary: 'Read a task',
  answer: { status: 200, body: task },
  params: { task: 'task' },
  async handle(ctx, { caller, params }) {
    const row = await findTask(ctx.pool, caller.workspaceId, params.task)
    if (!row) throw notFound()
    return ok(presentTask(row))
  },
})
