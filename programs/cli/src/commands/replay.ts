import type { DeadLetterFilter } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { given, number } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'
import { type FilterFlags, filterOf, withFilters } from './filters.ts'

type Flags = FilterFlags & { dead?: boolean; perSecond?: number }

export function addReplay(program: Command, context: () => Context): void {
  const command = program
    .command('replay')
    .description('replay finished tasks as new tasks that are due at once')
    .argument('[ids...]', 'task_...')
    .option('--dead', 'instead of ids: all dead letters that match the options below')
    .addOption(
      number('--per-second <n>', 'how many of the dead letters are due per second, instead of all at once', {
        min: 1,
        max: 1_000,
      }),
    )
  const single = ['cronjob', 'topic', 'label'] as const
  withFilters(command, 'dead letters', [...single, 'name', 'host', 'error', 'from', 'to'], single).action(
    async (ids: string[], flags: Flags) => {
      const ctx = context()
      const isFiltered = Object.keys(flags).some(name => name !== 'dead')
      if (flags.dead) {
        if (ids.length > 0) throw new UsageError('Use either ids or --dead.')
        return replayDeadLetters(ctx, flags)
      }
      if (isFiltered) throw new UsageError('These options select dead letters: add --dead.')
      if (ids.length === 0) throw new UsageError('Specify the ids of tasks, or --dead for all dead letters.')
      for (const id of ids) {
        const task = await ctx.belfry().tasks.replay(id, {}, { signal: ctx.signal })
        ctx.out.show(task, `${task.id}  replays ${id}`)
      }
    },
  )
}

async function replayDeadLetters(ctx: Context, { perSecond, dead: _, ...flags }: Flags): Promise<void> {
  // The API checks the codes.
  const filter: object = filterOf(flags)
  const { deadLetters } = ctx.belfry()
  const answer = await deadLetters.replay(
    { filter: filter as DeadLetterFilter, ...given({ perSecond }) },
    { signal: ctx.signal },
  )
  if (!answer.operation) return ctx.out.show(answer, `${answer.replayed} replayed`)
  for await (const operation of deadLetters.progress(answer.operation.id, { signal: ctx.signal })) {
    ctx.out.show(operation, `${operation.settled} of ${operation.total} replayed (${operation.status})`)
  }
}
