import type { RunErrorCode } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { given, number, repeated, timesOf } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'

type Flags = {
  dead?: boolean
  cronjob?: string
  topic?: string
  label?: string
  name?: string
  host?: string[]
  error?: string[]
  from?: string
  to?: string
  perSecond?: number
}

export function addReplay(program: Command, context: () => Context): void {
  program
    .command('replay')
    .description('replay finished tasks as new tasks that are due at once')
    .argument('[ids...]', 'task_...')
    .option('--dead', 'instead of ids: all dead letters that match the options below')
    .option('--cronjob <id>', 'dead letters of this cron job')
    .option('--topic <topic>', 'dead letters of events with this topic')
    .option('--label <label>', 'dead letters with this label')
    .option('--name <prefix>', 'dead letters whose names start with this')
    .addOption(repeated('--host <host>', 'dead letters of this host and port; can be repeated'))
    .addOption(
      repeated('--error <code>', 'dead letters whose last run had this error, such as timeout; can be repeated'),
    )
    .option('--from <time>', 'dead letters that were due at this time or later')
    .option('--to <time>', 'dead letters that were due before this time')
    .addOption(
      number('--per-second <n>', 'how many of the dead letters are due per second, instead of all at once', {
        min: 1,
        max: 1_000,
      }),
    )
    .action(async (ids: string[], flags: Flags) => {
      const ctx = context()
      const isFiltered = Object.keys(flags).some(name => name !== 'dead')
      if (flags.dead) {
        if (ids.length > 0) throw new UsageError('Use either ids or --dead.')
        return replayDeadLetters(ctx, flags)
      }
      if (isFiltered) throw new UsageError('These options select dead letters: add --dead.')
      if (ids.length === 0) throw new UsageError('Specify the ids of tasks, or --dead for all dead letters.')
      for (const id of ids) {
        const task = await ctx.belfry().tasks.replay(id, { signal: ctx.signal })
        ctx.out.show(task, `${task.id}  replays ${id}`)
      }
    })
}

async function replayDeadLetters(ctx: Context, { perSecond, ...flags }: Flags): Promise<void> {
  const { cronjob, topic, label, name, host } = flags
  const error = flags.error as RunErrorCode[] | undefined // the API checks them
  const filter = given({ cronjobId: cronjob, topic, label, name, host, error, ...timesOf(flags) })
  const { deadLetters } = ctx.belfry()
  const answer = await deadLetters.replay({ filter, ...given({ perSecond }) }, { signal: ctx.signal })
  if (!answer.operation) return ctx.out.show(answer, `${answer.replayed} replayed`)
  for await (const operation of deadLetters.progress(answer.operation.id, { signal: ctx.signal })) {
    ctx.out.show(operation, `${operation.settled} of ${operation.total} replayed (${operation.status})`)
  }
}
