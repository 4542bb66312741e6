import type { Belfry, CreateCronJob, CreateTask, ListCronJobs, ListRuns, ListTasks } from '@belfry/client'
import { resolve } from '@belfry/contract/openapi/example'
import { type Components, toJsonSchema } from '@belfry/contract/openapi/json-schema'
import { operations } from '@belfry/contract/operations'
import { retryDefaults } from '@belfry/domain/retry'
import type { JSONValue, ToolAnnotations } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { explain, explanation } from './explain.ts'
import { membersOf, type OutputSchema, outputOf, outputOfList, schemaOf } from './output-schema.ts'

/** What an agent gives to a tool. The API validates it. */
export type Arguments = Record<string, unknown>

type Fields = Record<string, { type?: string; description?: string; [member: string]: JSONValue }>

export type Tool = {
  title: string
  description: string
  inputSchema: { type: 'object'; properties: Fields; required?: string[] }
  outputSchema: OutputSchema
  annotations: ToolAnnotations
  run(belfry: Belfry, given: Arguments): Promise<unknown>
}

// The words of JSON Schema that every model takes.
const words = ['type', 'enum', 'items', 'minimum', 'maximum', 'default', 'description']

const { listTasks, listCronJobs, listRuns, previewCronJob, createTask, updateTask, createCronJob } = operations

const { shape: ofTasks } = listTasks.response.body
const { shape: ofCronJobs } = listCronJobs.response.body
const listedTask = ofTasks.data.element.pick({
  ...{ id: true, name: true, state: true, url: true, method: true, execute_at: true, attempts: true },
  ...{ next_retry_at: true, last_run: true, blocked: true },
})
const listedCronJob = ofCronJobs.data.element.pick({
  ...{ id: true, name: true, cron: true, timezone: true, description: true, url: true, method: true, status: true },
  ...{ next_runs: true, last_run: true },
})
const [ofListedTask, ofListedCronJob] = [membersOf(listedTask), membersOf(listedCronJob)]

const reads = { readOnlyHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: false, openWorldHint: true }
const ends = { readOnlyHint: false, destructiveHint: true, openWorldHint: false }

const taskId = { task_id: { type: 'string', description: 'The id of a task, task_...' } }
const cronJobId = { cronjob_id: { type: 'string', description: 'The id of a cron job, cron_...' } }

const { url, method, name, headers, labels, execute_at, timezone } = fieldsOf('+', createTask.body)
const schedule = fieldsOf('+', createCronJob.body)
const { max_retries, delays_ms } = fieldsOf('+', updateTask.body.shape.retry.unwrap())
const request = {
  url,
  method: { ...method, default: 'POST' },
  name,
  payload: { description: 'The JSON body.' },
  payload_json: {
    type: 'string',
    description: 'The JSON body as text, of which each byte is kept, instead of payload.',
  },
  headers,
  max_retries: { ...max_retries, default: retryDefaults.maxRetries },
  retry_delays_ms: { ...delays_ms, description: 'The exact delay before each retry, instead of max_retries.' },
  labels,
}

export const tools: Readonly<Record<string, Tool>> = {
  list_tasks: {
    title: 'List tasks',
    description: 'Lists tasks: one request each, pending, processing, retrying, success, dead or cancelled.',
    inputSchema: input(
      fieldsOf('?', listTasks.query.pick({ state: true, name: true, label: true, cronjob_id: true, limit: true })),
    ),
    outputSchema: outputOfList(listedTask),
    annotations: reads,
    run: async (belfry, given: ListTasks) => (await belfry.tasks.list(filled(given))).data.map(ofListedTask),
  },
  list_cron_jobs: {
    title: 'List cron jobs',
    description: 'Lists cron jobs with their schedule in English, their next runs and their last run.',
    inputSchema: input(fieldsOf('?', listCronJobs.query.pick({ name: true, limit: true }))),
    outputSchema: outputOfList(listedCronJob),
    annotations: reads,
    run: async (belfry, given: ListCronJobs) => (await belfry.cronJobs.list(filled(given))).data.map(ofListedCronJob),
  },
  list_runs: {
    title: 'List runs',
    description: 'Lists runs, the attempts of tasks, with their result.',
    inputSchema: input(fieldsOf('?', listRuns.query.pick({ status: true, task_id: true, host: true, limit: true }))),
    outputSchema: outputOfList(listRuns.response.body.shape.data.element),
    annotations: reads,
    run: async (belfry, given: ListRuns) => (await belfry.runs.list(filled(given))).data,
  },
  explain_task: {
    title: 'Explain a task',
    description:
      'Explains what happened to a task and why: its state, its last attempts with request and response, and the state of its host.',
    inputSchema: input(taskId, 'task_id'),
    outputSchema: schemaOf(explanation),
    annotations: reads,
    run: (belfry, { task_id }: { task_id: string }) => explain(belfry, task_id),
  },
  preview_cron: {
    title: 'Preview a cron expression',
    description: 'Returns a cron expression in English with its next runs, also across clock changes.',
    inputSchema: input(fieldsOf('+', previewCronJob.body.omit({ from: true })), 'cron'),
    outputSchema: outputOf(previewCronJob),
    annotations: reads,
    run: (belfry, given) => belfry.cronJobs.preview(given as { cron: string }),
  },
  schedule_task: {
    title: 'Schedule a call',
    description: 'Calls a URL once: at a time, or after a delay; without either, after a second.',
    inputSchema: input(
      {
        ...request,
        at: execute_at,
        timezone,
        after: { type: 'string', description: 'A duration, such as 90s, 15m, 3h or 7d.' },
      },
      'url',
    ),
    outputSchema: outputOf(createTask),
    annotations: changes,
    async run(belfry, { at, after, ...given }) {
      if (at !== undefined && after !== undefined) throw new TypeError('Give at or after, not both.')
      if (given.timezone !== undefined && at === undefined) throw new TypeError('Give timezone with at.')
      const time = at === undefined ? { delay: after ?? '1s' } : { executeAt: at }
      return belfry.tasks.create({ ...toRequest(given), ...time } as CreateTask)
    },
  },
  create_cron_job: {
    title: 'Call a URL on a schedule',
    description: 'Creates a cron job. Check the expression with preview_cron first.',
    inputSchema: input({ ...request, cron: schedule.cron, timezone: schedule.timezone }, 'url', 'cron'),
    outputSchema: outputOf(createCronJob),
    annotations: changes,
    run: async (belfry, given) => belfry.cronJobs.create(toRequest(given) as CreateCronJob),
  },
  pause_cron_job: {
    title: 'Pause a cron job',
    description: 'No call starts until it is resumed.',
    inputSchema: input(cronJobId, 'cronjob_id'),
    outputSchema: outputOf(operations.pauseCronJob),
    annotations: ends,
    run: (belfry, { cronjob_id }: { cronjob_id: string }) => belfry.cronJobs.pause(cronjob_id),
  },
  resume_cron_job: {
    title: 'Resume a cron job',
    description: 'Calls start again from now on.',
    inputSchema: input(cronJobId, 'cronjob_id'),
    outputSchema: outputOf(operations.resumeCronJob),
    annotations: ends,
    run: (belfry, { cronjob_id }: { cronjob_id: string }) => belfry.cronJobs.resume(cronjob_id),
  },
  cancel_task: {
    title: 'Cancel a task',
    description: 'Cancels a task that has not started.',
    inputSchema: input(taskId, 'task_id'),
    outputSchema: outputOf(operations.cancelTask),
    annotations: ends,
    run: (belfry, { task_id }: { task_id: string }) => belfry.tasks.cancel(task_id),
  },
  replay_task: {
    title: 'Replay a task',
    description: 'Makes the same call again, as a new task. Fix the cause first: see explain_task.',
    inputSchema: input(taskId, 'task_id'),
    outputSchema: outputOf(operations.replayTask),
    annotations: changes,
    run: (belfry, { task_id }: { task_id: string }) => belfry.tasks.replay(task_id),
  },
}

function input(properties: Fields, ...required: string[]): Tool['inputSchema'] {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

/** Returns the fields of a declared query (`?`) or body (`+`). */
export function fieldsOf<Shape extends z.ZodRawShape>(mark: '?' | '+', declared: z.ZodObject<Shape>) {
  const components: Components = {}
  const { properties } = resolve(toJsonSchema(declared, 'input', components, mark), components)
  return Object.fromEntries(
    Object.entries(properties as Fields).map(([name, field]) => [name, JSON.parse(JSON.stringify(field, words))]),
  ) as Record<keyof Shape, Fields[string]>
}

// Models write an empty text for a filter that they do not use.
function filled<Filter extends object>(filter: Filter): Filter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')) as Filter // each is optional
}

function toRequest({ url: targetUrl, payload, payload_json, max_retries, retry_delays_ms, ...given }: Arguments) {
  if (payload_json !== undefined && payload !== undefined) {
    throw new TypeError('Give payload or payload_json, not both.')
  }
  if (max_retries !== undefined && retry_delays_ms !== undefined) {
    throw new TypeError('Give max_retries or retry_delays_ms, not both.')
  }
  const retry = { maxRetries: max_retries, delaysMs: retry_delays_ms }
  return {
    ...given,
    targetUrl,
    payload: payload === undefined ? payload_json : textOf(payload),
    ...(max_retries === undefined && retry_delays_ms === undefined ? {} : { retry }),
  }
}

// The client sends a string as JSON text. The agent's JSON was parsed by JavaScript, so long numbers may have been rounded.
function textOf(payload: unknown): string {
  const text = JSON.stringify(payload)
  // A function that sees each member takes long, and hardly any payload has a number of that length.
  if (!/\d{16}|\de\+/.test(text)) return text
  return JSON.stringify(payload, (name, member: unknown) => {
    if (typeof member !== 'number' || Math.abs(member) <= Number.MAX_SAFE_INTEGER) return member
    throw new TypeError(
      `${name || 'payload'} is a number that may have lost digits. Give the body as text in payload_json.`,
    )
  })
}
