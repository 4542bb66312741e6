import type { MoveResult } from '@belfry/db'
import { AppError } from '@belfry/domain'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { findTask, type TaskRow } from './task-row.ts'

/** Returns the task after a change. Throws the reason when the task could not be changed. */
export async function taskAfterMove(
  ctx: Context,
  result: MoveResult,
  workspaceId: string,
  taskId: string,
): Promise<TaskRow> {
  if (result.kind === 'refused' && result.state !== null) {
    throw new AppError(
      'task_not_pending',
      `The task is ${result.state}; only a pending task can be changed or cancelled.`,
      {
        extra: { current_state: result.state },
      },
    )
  }
  const row = result.kind === 'moved' ? await findTask(ctx.pool, workspaceId, taskId) : undefined
  if (!row) throw notFound()
  return row
}
