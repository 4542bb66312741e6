import type { Belfry, Run, Task } from '@belfry/client'
import { operations } from '@belfry/contract/operations'
import { parseUrl } from '@belfry/domain/target-url'
import { z } from 'zod'
import { membersOf } from './output-schema.ts'

// Enough to see a pattern, and few enough for the context of an agent.
const shownRuns = 5
const shownBody = 2_000

const { getTask, listRuns, getRun, getHost } = operations

const explainedTask = getTask.response.body.pick({
  ...{ id: true, name: true, state: true, state_reason: true, execute_at: true, attempts: true, retry: true },
  ...{ next_retry_at: true, expires_at: true, queue: true, blocked: true },
})
const ofExplainedTask = membersOf(explainedTask)

/** What happened to a task, and why. */
export const explanation = z.object({
  why: z.string().meta({ description: 'What happened, in a sentence.' }),
  task: explainedTask,
  runs: listRuns.response.body.shape.data.meta({ description: `The last ${shownRuns} attempts, newest first.` }),
  last_request: getRun.response.body.shape.request.optional().meta({ description: 'The request of the last attempt.' }),
  last_response: getRun.response.body.shape.response
    .optional()
    .meta({ description: 'The response to the last attempt.' }),
  host: getHost.response.body.optional().meta({ description: 'Absent when a secret has the host.' }),
})

export async function explain(belfry: Belfry, id: string) {
  const task = await belfry.tasks.get(id)
  const runs = (await belfry.runs.list({ taskId: id, limit: shownRuns })).data
  const last = runs[0] && (await belfry.runs.get(runs[0].id))
  const host = parseUrl(task.url)?.host
  return {
    why: reasonOf(task, runs[0]),
    task: ofExplainedTask(task),
    runs,
    lastRequest: last && { ...last.request, body: last.request.body?.slice(0, shownBody) ?? null },
    lastResponse: last?.response && { ...last.response, body: last.response.body.slice(0, shownBody) },
    host: host && (await belfry.hosts.get(host)),
  }
}

function reasonOf({ state, stateReason, blocked, nextRetryAt, executeAt, retry, attempts }: Task, run?: Run): string {
  const outcome = run && outcomeOf(run)
  if (blocked?.reason === 'held')
    return 'The operator holds it since the restore of a backup, until belfry release-held.'
  switch (state) {
    case 'pending':
      if (blocked?.reason === 'queue') return `It is due and waits for the queue ${blocked.queue}.`
      if (blocked?.reason === 'host_paused') return `It is due and waits because a user has paused ${blocked.host}.`
      if (blocked) return `It waits because calls to ${blocked.host} fail; the next probe is at ${blocked.nextProbeAt}.`
      return `It waits for its time, ${executeAt}.`
    case 'processing':
      return 'An attempt is in progress.'
    case 'retrying':
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

function outcomeOf({ responseStatus, error, durationMs }: Run): string {
  return error
    ? `${error.code}, ${error.message.replace(/\.$/, '')}`
    : `status ${responseStatus} after ${durationMs} ms`
}
