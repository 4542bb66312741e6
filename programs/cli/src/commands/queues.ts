import type { Queue, QueueLimits } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { putQueue } from '../generated/fields.ts'
import { bodyOf, type FieldFlags, withFields } from '../options/field-options.ts'
import { queueTable } from '../output/rows.ts'
import { parseDuration } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'

export function addQueues(program: Command, context: () => Context): void {
  const queues = program.command('queues').description('limit, pause and inspect queues')
  const set = queues
    .command('set')
    .description('create a queue, or replace its limits; without options it has none')
    .argument('<name>', 'letters, digits and . _ : / -')
    .option('--rate <count/period>', 'attempts started in any period, such as 100/1m or 50/1s')
  withFields(set, putQueue).action(async (name: string, { rate, ...flags }: FieldFlags & { rate?: string }) => {
    const ctx = context()
    const limits: QueueLimits = {
      ...bodyOf(putQueue, flags),
      ...(rate !== undefined && { rateLimit: parseRate(rate) }),
    }
    await show(ctx, await ctx.belfry().queues.put(name, limits, { signal: ctx.signal }))
  })
  for (const verb of ['show', 'pause', 'resume'] as const) {
    queues
      .command(verb)
      .description(about[verb])
      .argument('<name>', 'the name of the queue')
      .action(async (name: string) => {
        const ctx = context()
        const method = verb === 'show' ? 'get' : verb
        await show(ctx, await ctx.belfry().queues[method](name, { signal: ctx.signal }))
      })
  }
  queues
    .command('delete')
    .description('delete the settings of a queue that nothing uses')
    .argument('<name>', 'the name of the queue')
    .action(async (name: string) => {
      const ctx = context()
      await ctx.belfry().queues.delete(name, { signal: ctx.signal })
      ctx.out.show({ name, deleted: true }, `${name}  deleted`)
    })
}

const about = {
  show: 'show a queue',
  pause: 'let no task of a queue start',
  resume: 'let the tasks of a paused queue start',
}

async function show(ctx: Context, queue: Queue): Promise<void> {
  if (ctx.out.isJson) return ctx.out.show(queue, '')
  await ctx.out.rows(queueTable.heading, [queueTable.row(queue)])
}

function parseRate(text: string): { count: number; periodMs: number } {
  const [, count, period] = /^(\d+)\/(\w+)$/.exec(text) ?? []
  if (count === undefined || period === undefined) throw new UsageError('--rate must look like 100/1m or 50/1s.')
  return { count: Number(count), periodMs: parseDuration(period) }
}
