import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { runRow } from '../output/rows.ts'
import { isWanted, type RunFlags, withRunFilter } from './run-filter.ts'

export function addTail(program: Command, context: () => Context): void {
  const command = program
    .command('tail')
    .description('follow the activity log until Ctrl-C')
    .option('--after <run id>', 'start with the runs after this one')
  withRunFilter(command).action(async (flags: RunFlags & { after?: string }) => {
    const ctx = context()
    const { signal } = ctx
    const onOmitted = (count: number) =>
      ctx.stderr.write(`At least ${count} runs were omitted because there are too many.\n`)
    const after = flags.after ? { after: flags.after } : {}
    for await (const run of ctx.belfry().runs.tail({ signal, onOmitted, ...after })) {
      if (isWanted(run, flags)) ctx.out.row(runRow(run))
    }
  })
}
