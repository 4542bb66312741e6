import { type CronJob, type RunDetail, type Status, type Subscription, stringifyJson, type Task } from '@belfry/client'
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
      ctx.out.show(value, stringifyJson(value, 2))
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

export function addWhoami(program: Command, context: () => Context): void {
  program
    .command('whoami')
    .description('show the server, the workspace and the organization of the API key or session')
    .action(async () => {
      const ctx = context()
      const { workspaces, organizations } = ctx.belfry()
      const workspace = await workspaces.get('current', { signal: ctx.signal })
      const organization = await organizations.get(workspace.organizationId, { signal: ctx.signal })
      const url = ctx.url()
      const lines = [url, `${workspace.id}  ${workspace.name}`, `${organization.id}  ${organization.name}`]
      ctx.out.show({ url, workspace, organization }, lines.join('\n'))
    })
}

export function addStatus(program: Command, context: () => Context, fail: () => void): void {
  program
    .command('status')
    .description('show whether dispatchers, schedulers and the queue are running')
    .action(async () => {
      const ctx = context()
      const status = await ctx.belfry().status.get()
      ctx.out.show(status, describe(status))
      if (status.dispatchers.live === 0 || status.schedulers.live === 0) fail()
    })
}

function describe({ dispatchers, schedulers, queue }: Status): string {
  const line = (name: string, { live, lastSeenAt }: Status['dispatchers']) =>
    `${name}  ${live > 0 ? `${live} running` : `none running, last seen ${lastSeenAt ?? 'never'}`}`
  return [line('dispatchers', dispatchers), line('schedulers', schedulers), `queue  ${queue}`].join('\n')
}
