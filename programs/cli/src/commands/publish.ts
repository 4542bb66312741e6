import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { taskHeading, taskRow } from '../output/rows.ts'
import { given } from '../parse-options.ts'
import {
  type ControlFlags,
  controlFields,
  type RequestFlags,
  requestFields,
  withControlOptions,
  withDeliveryOptions,
} from './request-options.ts'

type Flags = Omit<RequestFlags, 'method'> & { to?: string; idempotencyKey?: string } & ControlFlags

export function addPublish(program: Command, context: () => Context): void {
  const command = program
    .command('publish')
    .description('publish an event to its subscriptions, or to one URL')
    .argument('<topic>', 'a topic such as orders.paid')
    .option('--to <url>', 'send to this URL instead of the subscriptions')
    .option(
      '-d, --data <json>',
      'the payload, a JSON object; @file reads it from a file, @- from standard input (default: {})',
    )
    .option('--connection <name>', 'the connection that authenticates the call; needs --to')
    .option('--idempotency-key <key>', 'the same key publishes only once in 24 hours')
  withControlOptions(withDeliveryOptions(command)).action(async (topic: string, flags: Flags) => {
    const ctx = context()
    const { to: targetUrl, idempotencyKey } = flags
    const fields = { ...given({ targetUrl }), ...(await requestFields(ctx, flags)), ...controlFields(flags) }
    const options = { signal: ctx.signal, ...given({ idempotencyKey }) }
    const event = await ctx.belfry().events.publish({ topic, payload: '{}', ...fields }, options)
    if (ctx.out.isJson) return ctx.out.show(event, '')
    ctx.out.say(`${event.id}  ${event.topic}  ${event.tasks.length} ${event.tasks.length === 1 ? 'task' : 'tasks'}`)
    await ctx.out.rows(taskHeading, event.tasks.map(taskRow))
    if (event.tasks.length > 0) return
    ctx.stderr.write(`No subscription matches ${event.topic}, so nothing is called. Create one, or use --to <url>.\n`)
  })
}
