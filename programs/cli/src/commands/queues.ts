import type { Queue, QueueLimits } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import type { Cell, Row } from '../output/output.ts'
import { given, ifGiven, number, parseDuration } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'

type LimitFlags = { maxConcurrent?: number; rate?: string; ordered?: boolean }

export const queueHeading = ['QUEUE', 'LIMITS', 'STATE', 'WAITING', 'IN FLIGHT', 'OLDEST']

export function addQueues(program: Command, context: () => Context): void {
  const queues = program.command('queues').description('limit, pause and inspect queues')
  queues
    .command('set')
    .description('create a queue, or replace its limits; without options it has none')
    .argument('<name>', 'letters, digits and . _ : / -')
    .addOption(number('--max-concurrent <n>', 'attempts in flight at a time', { min: 1, max: 1_000 }))
    .option('--rate <count/period>', 'attempts started in any period, such as 100/1m or 50/1s')
    .option('--ordered', 'one task at a time, in the order of their times')
    .action(async (name: string, flags: LimitFlags) => {
      const ctx = context()
      await show(ctx, await ctx.belfry().queues.put(name, limitsOf(flags), { signal: ctx.signal }))
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
  await ctx.out.rows(queueHeading, [queueRow(queue)])
}

export function queueRow(queue: Queue): Row {
  const { waiting, inFlight, oldestDueMs, pausedAt } = queue
  const state: Cell = pausedAt === null ? 'active' : { text: 'paused', colour: 'red' }
  const oldest = oldestDueMs === null ? '-' : `${Math.round(oldestDueMs / 1000)}s`
  return { value: queue, cells: [queue.name, limitsText(queue), state, String(waiting), String(inFlight), oldest] }
}

function limitsText({ maxConcurrent, rateLimit, ordered }: Queue): string {
  const limits = [
    ...(maxConcurrent === null ? [] : [`${maxConcurrent} at a time`]),
    ...(rateLimit === null ? [] : [`${rateLimit.count} per ${rateLimit.periodMs / 1000}s`]),
    ...(ordered ? ['ordered'] : []),
  ]
  return limits.join(', ') || '-'
}

function limitsOf({ rate, ...limits }: LimitFlags): QueueLimits {
  return given({ ...limits, rateLimit: ifGiven(rate, parseRate) })
}

function parseRate(text: string): { count: number; periodMs: number } {
  const [, count, period] = /^(\d+)\/(\w+)$/.exec(text) ?? []
  if (count === undefined || period === undefined) throw new UsageError('--rate must look like 100/1m or 50/1s.')
  return { count: Number(count), periodMs: parseDuration(period) }
}
