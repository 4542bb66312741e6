import type { Run } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { listRuns } from '../generated/fields.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { runTable } from '../output/rows.ts'

export function addTail(program: Command, context: () => Context): void {
  const command = program
    .command('tail')
    .description('follow the activity log until Ctrl-C')
    .option('--after <run id>', 'start with the runs after this one')
  withRunFilter(command).action(async (flags: FieldFlags & { after?: string }) => {
    const ctx = context()
    const { signal } = ctx
    const onOmitted = (count: number) =>
      ctx.stderr.write(`At least ${count} runs were omitted because there are too many.\n`)
    const after = flags.after ? { after: flags.after } : {}
    for await (const run of ctx.belfry().runs.tail({ signal, onOmitted, ...after })) {
      if (isWanted(run, flags)) ctx.out.row(runTable.row(run))
    }
  })
}

const filters = listRuns.filter(({ path: [name = ''] }) =>
  ['status', 'topic', 'cronjob_id', 'task_id', 'source'].includes(name),
)

export function withRunFilter(command: Command): Command {
  return withFields(command, filters)
}

export function isWanted(run: Run, flags: FieldFlags): boolean {
  const wanted = bodyOf<Partial<Record<keyof Run, readonly unknown[]>>>(filters, flags)
  return Object.entries(wanted).every(([name, values]) => values.includes(run[name as keyof Run]))
}
