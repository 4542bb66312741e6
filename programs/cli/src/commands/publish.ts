import type { PublishEvent } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { publishEvent } from '../generated/fields.ts'
import { withFields } from '../options/field-options.ts'
import { taskTable } from '../output/rows.ts'
import { type RequestFlags, requestOf, withHeaders } from './request-options.ts'

export function addPublish(program: Command, context: () => Context): void {
  const command = program
    .command('publish')
    .description('publish an event to its subscriptions, or to one URL')
    .argument('<topic>', 'a topic such as orders.paid')
    .option(
      '-d, --data <json>',
      'the payload, a JSON object; @file reads it from a file, @- from standard input (default: {})',
    )
    .option('--idempotency-key <key>', 'the same key publishes only once in 24 hours')
  withHeaders(withFields(command, publishEvent)).action(
    async (topic: string, { idempotencyKey, ...flags }: RequestFlags & { idempotencyKey?: string }) => {
      const ctx = context()
      const fields = await requestOf<PublishEvent>(ctx, publishEvent, flags)
      const options = { signal: ctx.signal, ...(idempotencyKey !== undefined && { idempotencyKey }) }
      const event = await ctx.belfry().events.publish({ payload: '{}', ...fields, topic }, options)
      if (ctx.out.isJson) return ctx.out.show(event, '')
      ctx.out.say(`${event.id}  ${event.topic}  ${event.tasks.length} ${event.tasks.length === 1 ? 'task' : 'tasks'}`)
      await ctx.out.rows(taskTable.heading, event.tasks.map(taskTable.row))
      if (event.tasks.length > 0) return
      ctx.stderr.write(`No subscription matches ${event.topic}, so nothing is called. Create one, or use --to <url>.\n`)
    },
  )
}
