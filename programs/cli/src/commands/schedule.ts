import type { CreateTask, TaskTime } from '@belfry/client'
import { parseInstantIn } from '@belfry/domain/cron/local-time'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { createTask } from '../generated/fields.ts'
import { parseDuration, parseInstant } from '../parse-options.ts'
import { UsageError } from '../usage-error.ts'
import { type RequestFlags, requestOf, withRequestOptions } from './request-options.ts'

type Flags = RequestFlags & {
  at?: string
  timezone?: string
  delay?: string
  expires?: string
  key?: string
  onConflict?: string
  idempotencyKey?: string
}

export function addSchedule(program: Command, context: () => Context): void {
  const command = program
    .command('schedule')
    .description('call a URL once, at a given time')
    .argument('<url>', 'the URL to call')
    .option('--at <time>', 'the time: ISO 8601 with a zone, such as 2026-12-01T09:00:00+01:00')
    .option('--in, --delay <time>', 'the time from now, such as 10m or 2d')
    .option(
      '--expires <time>',
      'no attempt starts then or later: a time as for --at, or a time after the task, such as 10m',
    )
    .option('--idempotency-key <key>', 'the same key creates only one task in 24 hours')
  withRequestOptions(command, createTask).action(async (url: string, flags: Flags) => {
    const ctx = context()
    const { at, timezone, idempotencyKey } = flags
    if (flags.onConflict && flags.key === undefined) throw new UsageError('--on-conflict needs --key.')
    const executeAt = when(ctx, flags)
    const expiresAt = flags.expires === undefined ? undefined : deadline(flags.expires, executeAt, timezone)
    const request = await requestOf<Omit<CreateTask, keyof TaskTime>>(ctx, createTask, flags)
    const time = timezone && at ? { executeAt: at, timezone } : { executeAt }
    const options = { signal: ctx.signal, ...(idempotencyKey !== undefined && { idempotencyKey }) }
    const body = { ...request, ...(expiresAt !== undefined && { expiresAt }), targetUrl: url, ...time }
    const task = await ctx.belfry().tasks.create(body, options)
    const local = task.localTime ? ` (${task.localTime} ${task.timezone})` : ''
    ctx.out.show(task, `${task.id}  ${task.method} ${task.url}  at ${task.executeAt}${local}`)
  })
}

function when(ctx: Context, { at, timezone, delay }: Flags): Date {
  if ((at === undefined) === (delay === undefined)) {
    throw new UsageError('Specify either --at <time> or --in <time>. To call at once, use `belfry publish`.')
  }
  if (at !== undefined) return instantOf(at, timezone)
  if (timezone !== undefined) throw new UsageError('--timezone belongs to --at.')
  return new Date(ctx.now().getTime() + parseDuration(delay ?? ''))
}

function deadline(text: string, executeAt: Date, timezone: string | undefined): Date {
  return /^\d+[a-z]/i.test(text) ? new Date(executeAt.getTime() + parseDuration(text)) : instantOf(text, timezone)
}

function instantOf(text: string, timezone: string | undefined): Date {
  if (timezone === undefined) return parseInstant(text)
  if (!isTimeZone(timezone)) throw new UsageError(`${timezone} is not a time zone, such as Europe/Berlin.`)
  return parseInstantIn(timezone, text) ?? parseInstant(text)
}
