import type { Status } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'

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
