import type { Belfry, Run } from '@belfry/client'
import { taskStates } from '@belfry/domain/task-state'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { resultOf } from './result-of.ts'

const annotations = { readOnlyHint: true, openWorldHint: false }
const limit = z.int().min(1).max(100).default(20).describe('How many, newest first.')
const taskId = z.string().describe('The id of a task, task_...')

/** Adds the tools that change nothing. */
export function addReadingTools(server: McpServer, belfry: Belfry): void {
  server.registerTool(
    'list_tasks',
    {
      title: 'List tasks',
      description: 'Lists tasks: one request each, pending, processing, retrying, success, dead or cancelled.',
      inputSchema: {
        state: z.array(z.enum(taskStates)).optional(),
        name: z.string().optional().describe('The beginning of the name.'),
        label: z.string().optional(),
        cronjob_id: z.string().optional().describe('Only tasks of this cron job, cron_...'),
        limit,
      },
      annotations,
    },
    ({ cronjob_id: cronjobId, state, name, label, limit }) =>
      resultOf(async () => {
        const filters = { ...(state && { state }), ...(name && { name }), ...(label && { label }) }
        const { data } = await belfry.tasks.list({ ...filters, ...(cronjobId && { cronjobId }), limit })
        return data.map(({ id, name, state, url, method, executeAt, attempts, nextRetryAt, lastRun, blocked }) => {
          return { id, name, state, url, method, executeAt, attempts, nextRetryAt, lastRun, blocked }
        })
      }),
  )
  server.registerTool(
    'list_cron_jobs',
    {
      title: 'List cron jobs',
      description: 'Lists cron jobs with their schedule in English, their next runs and their last run.',
      inputSchema: { name: z.string().optional().describe('The beginning of the name.'), limit },
      annotations,
    },
    ({ name, limit }) =>
      resultOf(async () => {
        const { data } = await belfry.cronJobs.list({ ...(name && { name }), limit })
        return data.map(({ id, name, cron, timezone, description, url, method, status, nextRuns, lastRun }) => {
          return { id, name, cron, timezone, description, url, method, status, nextRuns, lastRun }
        })
      }),
  )
  server.registerTool(
    'list_runs',
    {
      title: 'List runs',
      description: 'Lists runs, the attempts of tasks, with their result.',
      inputSchema: {
        status: z.enum(['success', 'failed']).optional(),
        task_id: taskId.optional(),
        host: z.string().optional().describe('Only calls to this host, such as example.com or localhost:3000.'),
        limit,
      },
      annotations,
    },
    ({ status, task_id: taskId, host, limit }) =>
      resultOf(async () => {
        const filters = { ...(status && { status }), ...(taskId && { taskId }), ...(host && { host }) }
        return (await belfry.runs.list({ ...filters, limit })).data
      }),
  )
  server.registerTool(
    'explain_task',
    {
      title: 'Explain a task',
      description:
        'Explains what happened to a task and why: its state, its last attempts with request and response, and the state of its host.',
      inputSchema: { task_id: taskId },
      annotations,
    },
    ({ task_id: id }) => resultOf(() => explain(belfry, id)),
  )
  server.registerTool(
    'preview_cron',
    {
      title: 'Preview a cron expression',
      description: 'Returns a cron expression in English with its next runs, also across clock changes.',
      inputSchema: {
        cron: z
          .string()
          .describe(
            'Five fields: minute, hour, day of month, month, day of week. L: the last day; MON#1: the first Monday.',
          ),
        timezone: z.string().default('UTC').describe('An IANA time zone, such as Europe/Berlin.'),
        count: z.int().min(1).max(50).default(5),
      },
      annotations,
    },
    preview => resultOf(() => belfry.cronJobs.preview(preview)),
  )
}

// Enough to see a pattern, and few enough for the context of an agent.
const shownRuns = 5
const shownBody = 2_000

async function explain(belfry: Belfry, id: string) {
  const task = await belfry.tasks.get(id)
  const runs = (await belfry.runs.list({ taskId: id, limit: shownRuns })).data
  const last = runs[0] && (await belfry.runs.get(runs[0].id))
  const hosts = await belfry.hosts.list()
  const host = hosts.data.find(({ host }) => host === new URL(task.url).host)
  const { name, state, stateReason, executeAt, attempts, retry, nextRetryAt, expiresAt, queue, blocked } = task
  return {
    why: reasonOf(task, runs[0]),
    task: { id, name, state, stateReason, executeAt, attempts, retry, nextRetryAt, expiresAt, queue, blocked },
    runs,
    lastRequest: last && { ...last.request, body: last.request.body?.slice(0, shownBody) ?? null },
    lastResponse: last?.response && { ...last.response, body: last.response.body.slice(0, shownBody) },
    host: host ?? null,
  }
}

type Explained = Awaited<ReturnType<Belfry['tasks']['get']>>

function reasonOf(
  { state, stateReason, blocked, nextRetryAt, executeAt, retry, attempts }: Explained,
  run?: Run,
): string {
  const outcome = run && outcomeOf(run)
  switch (state) {
    case 'pending':
      if (blocked?.reason === 'queue') return `It is due and waits for the queue ${blocked.queue}.`
      if (blocked?.reason === 'held') return heldText
      if (blocked?.reason === 'host_paused') return `It is due and waits because a user has paused ${blocked.host}.`
      if (blocked) return `It waits because calls to ${blocked.host} fail; the next probe is at ${blocked.nextProbeAt}.`
      return `It waits for its time, ${executeAt}.`
    case 'processing':
      return blocked?.reason === 'held' ? heldText : 'An attempt is in progress.'
    case 'retrying':
      if (blocked?.reason === 'held') return heldText
      return `The last attempt failed: ${outcome}. The next one is at ${nextRetryAt}.`
    case 'success':
      return `It succeeded: ${outcome}.`
    case 'dead':
      return stateReason
        ? `It ended without a success: ${stateReason}.`
        : `${attempts === 1 ? 'Its only attempt' : `All ${attempts} attempts`} failed; ${'delaysMs' in retry ? retry.delaysMs.length : retry.maxRetries} retries were allowed. The last one: ${outcome}.`
    default:
      return `It was cancelled: ${stateReason ?? 'by a user'}.`
  }
}

const heldText = 'The operator holds it since the restore of a backup, until belfry release-held.'

function outcomeOf({ responseStatus, error, durationMs }: Run): string {
  return error
    ? `${error.code}, ${error.message.replace(/\.$/, '')}`
    : `status ${responseStatus} after ${durationMs} ms`
}
