import type { DeadLetterFilter } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { replayDeadLetters } from '../generated/fields.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { UsageError } from '../usage-error.ts'

type Flags = FieldFlags & { dead?: boolean }

export function addReplay(program: Command, context: () => Context): void {
  const command = program
    .command('replay')
    .description('replay finished tasks as new tasks that are due at once')
    .argument('[ids...]', 'task_...')
    .option('--dead', 'instead of ids: all dead letters that match the options below')
  withFields(command, replayDeadLetters).action(async (ids: string[], flags: Flags) => {
    const ctx = context()
    const isFiltered = Object.keys(flags).some(name => name !== 'dead')
    if (flags.dead) {
      if (ids.length > 0) throw new UsageError('Use either ids or --dead.')
      return replayMany(ctx, flags)
    }
    if (isFiltered) throw new UsageError('These options select dead letters: add --dead.')
    if (ids.length === 0) throw new UsageError('Specify the ids of tasks, or --dead for all dead letters.')
    for (const id of ids) {
      const task = await ctx.belfry().tasks.replay(id, {}, { signal: ctx.signal })
      ctx.out.show(task, `${task.id}  replays ${id}`)
    }
  })
}

async function replayMany(ctx: Context, flags: Flags): Promise<void> {
  const { deadLetters } = ctx.belfry()
  const choice = { filter: {}, ...bodyOf<{ filter?: DeadLetterFilter }>(replayDeadLetters, flags) }
  const answer = await deadLetters.replay(choice, { signal: ctx.signal })
  if (!answer.operation) return ctx.out.show(answer, `${answer.replayed} replayed`)
  for await (const operation of deadLetters.progress(answer.operation.id, { signal: ctx.signal })) {
    ctx.out.show(operation, `${operation.settled} of ${operation.total} replayed (${operation.status})`)
  }
}
