import { toId } from '@belfry/domain'
import type { Context } from '../context.ts'
import type { TaskInHand } from './hand.ts'
import { abandonClaim, undoPrefetched } from './prefetch.ts'

/** Evicts tasks that this process has not claimed, and adds jobs for them. Never rejects. */
export async function giveBack(ctx: Context, tasks: readonly TaskInHand[]): Promise<void> {
  for (const task of tasks) {
    ctx.hand.letGo(task)
    abandonClaim(ctx, task)
  }
  const due = tasks.map(({ id, workspace, dueAt, origin }) => {
    return { id: toId('task', id), workspace: toId('ws', workspace), dueAt: Math.round(dueAt), origin }
  })
  await ctx.enqueue(due, ctx.clock.now())
}

/** Gives back every buffered task that has no slot, when the process stops. */
export async function giveBackAll(ctx: Context): Promise<void> {
  const tasks = await undoPrefetched(ctx, [...ctx.waiting.takeAll(), ...ctx.lines.takeAll()])
  await giveBack(ctx, tasks)
  if (tasks.length > 0) ctx.log.info({ tasks: tasks.length }, 'tasks.given_back')
}
