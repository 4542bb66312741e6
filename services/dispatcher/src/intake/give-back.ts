import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import { undoClaims } from './ahead.ts'
import type { TaskInHand } from './hand.ts'

/** Lets tasks go that nobody has claimed, and hands them to the queue for whoever takes them next. Never rejects. */
export async function giveBack(ctx: Context, tasks: readonly TaskInHand[]): Promise<void> {
  for (const task of tasks) ctx.hand.letGo(task)
  const due = tasks.map(({ id, workspace, dueAt, origin }) => {
    return { id: toId('task', id), workspace: toId('ws', workspace), dueAt: Math.round(dueAt), origin }
  })
  await ctx.enqueue(due, ctx.clock.now())
}

/** Gives back every task in hand whose turn has not come, when the process stops. */
export async function giveBackAll(ctx: Context): Promise<void> {
  const tasks = await undoClaims(ctx, [...ctx.waiting.takeAll(), ...ctx.lines.takeAll()])
  await giveBack(ctx, tasks)
  if (tasks.length > 0) ctx.log.info({ tasks: tasks.length }, 'tasks.given_back')
}
