import type { Belfry } from '@belfry/client'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { resultOf } from './result-of.ts'

const changes = { readOnlyHint: false, destructiveHint: false, openWorldHint: true }
const ends = { readOnlyHint: false, destructiveHint: true, openWorldHint: false }

const request = {
  url: z.string().describe('The URL to call, http or https.'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  name: z.string().optional().describe('A name that people recognize.'),
  payload: z.unknown().optional().describe('The JSON body.'),
  payload_json: z
    .string()
    .optional()
    .describe('The JSON body as text, of which each byte is kept, instead of payload.'),
  headers: z.record(z.string(), z.string()).optional(),
  max_retries: z.int().min(0).max(20).optional().describe('Default 5.'),
  retry_delays_ms: z
    .array(
      z
        .int()
        .min(0)
        .max(30 * 86_400_000),
    )
    .min(1)
    .max(20)
    .optional()
    .describe('The exact delay before each retry, instead of max_retries.'),
  labels: z.array(z.string()).optional(),
}

/** Adds the tools that schedule, end and repeat calls. The API refuses them to a key that may only read. */
export function addWritingTools(server: McpServer, belfry: Belfry): void {
  server.registerTool(
    'schedule_task',
    {
      title: 'Schedule a call',
      description: 'Calls a URL once: at a time, or after a delay; without either, after a second.',
      inputSchema: {
        ...request,
        at: z
          .string()
          .optional()
          .describe('ISO 8601 with an offset, such as 2027-01-31T09:00:00+01:00, or in timezone.'),
        timezone: z.string().optional().describe('The IANA time zone of a time without an offset.'),
        after: z.string().optional().describe('A duration, such as 90s, 15m, 3h or 7d.'),
      },
      annotations: changes,
    },
    ({ at, timezone, after, ...fields }) =>
      resultOf(() => {
        if (at !== undefined && after !== undefined) throw new TypeError('Give at or after, not both.')
        if (timezone !== undefined && at === undefined) throw new TypeError('Give timezone with at.')
        const time = at ? { executeAt: at, ...(timezone && { timezone }) } : { delay: after ?? '1s' }
        return belfry.tasks.create({ ...toRequest(fields), ...time })
      }),
  )
  server.registerTool(
    'create_cron_job',
    {
      title: 'Call a URL on a schedule',
      description: 'Creates a cron job. Check the expression with preview_cron first.',
      inputSchema: {
        ...request,
        cron: z
          .string()
          .describe(
            'Five fields: minute, hour, day of month, month, day of week. L: the last day; MON#1: the first Monday.',
          ),
        timezone: z.string().default('UTC').describe('An IANA time zone, such as Europe/Berlin.'),
      },
      annotations: changes,
    },
    ({ cron, timezone, ...fields }) => resultOf(() => belfry.cronJobs.create({ ...toRequest(fields), cron, timezone })),
  )
  const cronJob = { cronjob_id: z.string().describe('The id of a cron job, cron_...') }
  for (const verb of ['pause', 'resume'] as const) {
    server.registerTool(
      `${verb}_cron_job`,
      {
        title: verb === 'pause' ? 'Pause a cron job' : 'Resume a cron job',
        description: verb === 'pause' ? 'No call starts until it is resumed.' : 'Calls start again from now on.',
        inputSchema: cronJob,
        annotations: ends,
      },
      ({ cronjob_id: id }) => resultOf(() => belfry.cronJobs[verb](id)),
    )
  }
  const task = { task_id: z.string().describe('The id of a task, task_...') }
  server.registerTool(
    'cancel_task',
    {
      title: 'Cancel a task',
      description: 'Cancels a task that has not started.',
      inputSchema: task,
      annotations: ends,
    },
    ({ task_id: id }) => resultOf(() => belfry.tasks.cancel(id)),
  )
  server.registerTool(
    'replay_task',
    {
      title: 'Replay a task',
      description: 'Makes the same call again, as a new task. Fix the cause first: see explain_task.',
      inputSchema: task,
      annotations: changes,
    },
    ({ task_id: id }) => resultOf(() => belfry.tasks.replay(id)),
  )
}

type Request = {
  url: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  name?: string | undefined
  payload?: unknown
  payload_json?: string | undefined
  headers?: Record<string, string> | undefined
  max_retries?: number | undefined
  retry_delays_ms?: number[] | undefined
  labels?: string[] | undefined
}

function toRequest(request: Request) {
  const { url, method, name, headers, max_retries: maxRetries, retry_delays_ms, labels } = request
  const payload = payloadTextOf(request)
  if (maxRetries !== undefined && retry_delays_ms !== undefined)
    throw new TypeError('Give max_retries or retry_delays_ms, not both.')
  return {
    targetUrl: url,
    method,
    ...(name === undefined ? {} : { name }),
    ...(payload === undefined ? {} : { payload }),
    ...(headers === undefined ? {} : { headers }),
    ...(maxRetries === undefined ? {} : { retry: { maxRetries } }),
    ...(retry_delays_ms === undefined ? {} : { retry: { delaysMs: retry_delays_ms } }),
    ...(labels === undefined ? {} : { labels }),
  }
}

// The client takes texts for JSON. JSON of agents has come through JavaScript, which rounds numbers.
function payloadTextOf({ payload, payload_json }: Request): string | undefined {
  if (payload_json !== undefined && payload !== undefined)
    throw new TypeError('Give payload or payload_json, not both.')
  if (payload === undefined) return payload_json
  return JSON.stringify(payload, (name, member: unknown) => {
    if (typeof member !== 'number' || Math.abs(member) <= Number.MAX_SAFE_INTEGER) return member
    throw new TypeError(
      `${name || 'payload'} is a number that may have lost digits. Give the body as text in payload_json.`,
    )
  })
}
