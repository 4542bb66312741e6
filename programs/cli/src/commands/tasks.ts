import type { CronJob, RunDetail, Subscription, Task } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'

export function addShow(program: Command, context: () => Context): void {
  program
    .command('show')
    .description('show a task, a cron job, a run with its request and response, or a subscription')
    .argument('<id>', 'an id such as task_..., cron_..., run_... or sub_...')
    .action(async (id: string) => {
      const ctx = context()
      const value = await read(ctx, id)
      ctx.out.show(value, JSON.stringify(value, null, 2))
      const { error } = value as Partial<RunDetail>
      if (error && !ctx.out.isJson) ctx.stderr.write(`See ${ctx.url()}/api/problems/${error.code}\n`)
    })
}

function read(ctx: Context, id: string): Promise<Task | CronJob | RunDetail | Subscription> {
  const belfry = ctx.belfry()
  if (id.startsWith('task_')) return belfry.tasks.get(id)
  if (id.startsWith('cron_')) return belfry.cronJobs.get(id)
  if (id.startsWith('run_')) return belfry.runs.get(id)
  if (id.startsWith('sub_')) return belfry.subscriptions.get(id)
  throw new UsageError(`${id} is not an id: ids start with task_, cron_, run_ or sub_.`)
}
