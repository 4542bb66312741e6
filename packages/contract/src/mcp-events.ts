import { z } from 'zod'
import { cronText } from './cron-job.ts'
import { textField } from './fields.ts'
import { timezoneField } from './local-time.ts'
import { filterField } from './payload-filter.ts'
import { label } from './task-controls.ts'
import { id, line, textRule, topicPattern } from './text-rules.ts'

const cronRule = textRule({ maxLength: 1_000, examples: ['0 9 * * 1-5'] }, cronText)

const note = textField(line(2_000)).optional().meta({ description: 'What to be reminded of; the event has it.' })

const ofTask = {
  task_id: textField(id('task')).optional().meta({ description: 'Only this task.' }),
  cronjob_id: textField(id('cron')).optional().meta({ description: 'Only tasks of this cron job.' }),
  label: textField(label).optional().meta({ description: 'Only tasks with this label.' }),
}

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const object = { type: 'object' }

const taskData = {
  type: 'object',
  properties: {
    ...{ id: text, name: text, source: text, cronjob_id: textOrNull, topic: textOrNull, url: text, method: text },
    ...{ execute_at: text, state: text, state_reason: textOrNull, attempts: { type: 'integer' } },
    ...{ labels: { type: 'array', items: text }, next_retry_at: textOrNull, last_run: { type: ['object', 'null'] } },
  },
}

/** The types of events that MCP clients can subscribe to: what each means, its arguments, and its data as JSON Schema. */
export const mcpEvents = {
  'reminder.due': {
    description: 'The time that the subscriber chose has come: once, or again and again.',
    arguments: z.strictObject({
      at: z
        .string()
        .optional()
        .meta({ description: 'When, in ISO 8601: with an offset, or in `timezone`. Instead of `cron`.' }),
      cron: textField(cronRule).optional().meta({ description: 'A cron expression of five fields. Instead of `at`.' }),
      timezone: timezoneField.optional(),
      note,
    }),
    data: { type: 'object', properties: { note: textOrNull, at: textOrNull, cron: textOrNull, timezone: textOrNull } },
  },
  'task.dead': {
    description: 'A call failed for good: all of its attempts failed, or its deadline has passed.',
    arguments: z.strictObject(ofTask),
    data: taskData,
  },
  'run.failed': {
    description: 'An attempt of a call failed. Belfry may try again.',
    arguments: z.strictObject(ofTask),
    data: taskData,
  },
  'cron.missed': {
    description: 'A cron job did not run at its time, because Belfry was not running.',
    arguments: z.strictObject({ cronjob_id: ofTask.cronjob_id, label: ofTask.label }),
    data: taskData,
  },
  topic: {
    description: 'An event was published in the workspace.',
    arguments: z.strictObject({ topic: textField(topicPattern), filter: filterField.optional() }),
    data: { type: 'object', properties: { topic: text, payload: object } },
  },
} as const

export type McpEvent = keyof typeof mcpEvents

export function isMcpEvent(name: string): name is McpEvent {
  return Object.hasOwn(mcpEvents, name)
}
