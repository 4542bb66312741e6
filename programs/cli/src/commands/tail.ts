import type { Run } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { runRow } from '../output/rows.ts'
import { choice, repeated } from '../parse-options.ts'

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

export type RunFlags = { status?: string; topic?: string[]; cronjob?: string[]; task?: string[]; source?: string }

/** Adds the filter options of new runs. */
export function withRunFilter(command: Command): Command {
  return command
    .addOption(choice('--status <status>', 'only runs with this status', ['success', 'failed']))
    .addOption(repeated('--topic <topic>', 'only runs of events with this topic; can be repeated'))
    .addOption(repeated('--cronjob <id>', 'only runs of this cron job; can be repeated'))
    .addOption(repeated('--task <id>', 'only runs of this task; can be repeated'))
    .addOption(choice('--source <source>', 'only runs of this source', ['task', 'cron', 'event', 'callback']))
}

/** Returns whether a run matches the filter. */
export function isWanted(run: Run, { status, topic, cronjob, task, source }: RunFlags): boolean {
  return (
    (status === undefined || run.status === status) &&
    (source === undefined || run.source === source) &&
    (topic === undefined || topic.includes(run.topic ?? '')) &&
    (cronjob === undefined || cronjob.includes(run.cronjobId ?? '')) &&
    (task === undefined || task.includes(run.taskId))
  )
}
