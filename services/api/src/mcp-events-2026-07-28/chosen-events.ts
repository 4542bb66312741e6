import { parseInput } from '@belfry/contract/field-errors'
import { isMcpEvent, type McpEvent, mcpEvents } from '@belfry/contract/mcp-events'
import { filterField } from '@belfry/contract/payload-filter'
import { type AppError, type FieldError, invalid, invalidField } from '@belfry/domain/app-error'
import { parseInstantIn } from '@belfry/domain/cron/local-time'
import type { Condition } from '@belfry/domain/payload-filter'
import type { z } from 'zod'
import { type Allowed, requireRight } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { inspectSchedule } from '../cron-jobs/inspect-schedule.ts'
import type { SubscribeBody } from './subscription-body.ts'

/** When a reminder is due: once, or by a cron expression in a time zone. `note`: what to be reminded of. */
export type Schedule = Once | Repeated
export type Once = { at: Date; cron: null; note: string | undefined }
export type Repeated = { at: null; cron: string; timezone: string; note: string | undefined }

export type ChosenEvents = {
  /** The topics of events that the workspace publishes, or `@` and the name of other events. */
  topic: string
  filter: Condition[]
  /** The columns that a task must have for an event about it; null for other events. */
  match: Record<string, unknown> | null
  schedule: Schedule | null
}

/**
 * Reads the events that a body chooses.
 * @throws AppError `validation_failed`, or `forbidden` when the caller lacks a right to what they show.
 */
export function chooseEvents(ctx: Context, caller: Allowed, body: SubscribeBody): ChosenEvents {
  const { name, principal, topic, filter } = body
  if (principal !== undefined) {
    return { topic: topic ?? name, filter: filter ?? equalTo(body.arguments), match: null, schedule: null }
  }
  for (const field of ['topic', 'filter'] as const) {
    if (body[field] !== undefined) throw invalidArgument(field, 'conflicting_fields', 'must come with a principal.')
  }
  if (!isMcpEvent(name)) {
    throw invalidArgument('name', 'invalid_value', `must be one of ${Object.keys(mcpEvents).join(', ')}.`)
  }
  return chooseOwn(ctx, caller, name, body.arguments)
}

// The events of other servers: by default an argument narrows them to the payloads that have its value.
function equalTo(given: Record<string, unknown>): Condition[] {
  const conditions = Object.entries(given).map(([path, value]) => ({ path, op: 'eq', value }))
  const parsed = parseInput(filterField, conditions)
  if (parsed.ok) return parsed.value
  const message = 'must be texts, numbers or booleans of members of the payload, or come with a filter.'
  throw invalidArgument('arguments', 'invalid_value', message)
}

function chooseOwn(ctx: Context, caller: Allowed, name: McpEvent, given: Record<string, unknown>): ChosenEvents {
  if (name === 'topic') {
    const { topic, filter = [] } = parseArguments(mcpEvents.topic.arguments, given)
    return { topic, filter, match: null, schedule: null }
  }
  const own = { topic: `@${name}`, filter: [], match: null, schedule: null }
  if (name === 'reminder.due') {
    const schedule = readSchedule(ctx, parseArguments(mcpEvents[name].arguments, given))
    requireRight(caller, schedule.cron === null ? 'task.create' : 'cron_job.write')
    return { ...own, schedule }
  }
  requireRight(caller, 'task.read')
  requireRight(caller, 'run.read')
  const { task_id, cronjob_id, label } = parseArguments(mcpEvents['task.dead'].arguments, given)
  const columns = { id: task_id, cron_job_id: cronjob_id, labels: label && [label] }
  return { ...own, match: JSON.parse(JSON.stringify(columns)) }
}

function readSchedule(ctx: Context, given: z.output<(typeof mcpEvents)['reminder.due']['arguments']>): Schedule {
  const { at: text, cron, timezone, note } = given
  if ((text === undefined) === (cron === undefined)) {
    throw invalidArgument('arguments.at', 'conflicting_fields', 'must come instead of cron.')
  }
  if (cron !== undefined) {
    const schedule = { cron, timezone: timezone ?? 'UTC' }
    const errors = inspectSchedule(ctx, schedule)
    if (errors.length > 0) throw invalidArguments(errors)
    return { at: null, ...schedule, note }
  }
  const at = parseInstantIn(timezone ?? null, String(text))
  if (at !== null) return { at, cron: null, note }
  const message = 'must be a timestamp with an offset, such as 2026-11-21T02:20:00Z, or come with a timezone.'
  throw invalidArgument('arguments.at', 'invalid_timestamp', message)
}

function parseArguments<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = parseInput(schema, given)
  if (parsed.ok) return parsed.value
  throw invalidArguments(parsed.errors)
}

function invalidArguments(errors: readonly FieldError[]): AppError {
  const pathOf = (path: string) => (path === '' ? 'arguments' : `arguments.${path}`)
  return invalid(
    'body',
    errors.map(error => ({ ...error, path: pathOf(error.path) })),
  )
}

/** The refusal of a field; `rest` continues a sentence that starts with its path. */
export function invalidArgument(path: string, code: string, rest: string): AppError {
  return invalidField(path, code, `${path} ${rest}`)
}
