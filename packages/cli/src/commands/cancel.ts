import type { Command } from 'commander'
import type { Context } from '../context.ts'

export function addCancel(program: Command, context: () => Context): void {
  program
    .command('cancel')
    .description('cancel a pending task')
    .argument('<id>', 'task_...')
    .action(async (id: string) => {
      const ctx = context()
      const task = await ctx.belfry().tasks.cancel(id)
      ctx.out.show(task, `${task.id}  cancelled`)
    })
}
