import type { ClaimedTask } from '@belfry/db'
import { requestBody, toId } from '@belfry/domain'
import type { OutgoingRequest } from './egress/send.ts'

const userAgent = 'Belfry/0.1.0'

/** Builds what is sent for an attempt: the task's own headers and body, and the ones that say what this call is. */
export function buildRequest(task: ClaimedTask): OutgoingRequest {
  const own = JSON.parse(task.headers) as Record<string, string> // validated and stored by the API
  const given = new Set(Object.keys(own).map(name => name.toLowerCase()))
  const body = task.payload === null ? null : requestBody(task.payload, own)
  const defaults: Record<string, string> = { 'User-Agent': userAgent, Accept: '*/*', 'Accept-Encoding': 'identity' }
  if (body !== null) defaults['Content-Type'] = 'application/json'
  return {
    url: task.url,
    method: task.method,
    headers: {
      ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !given.has(name.toLowerCase()))),
      ...own,
      ...identity(task),
    },
    body,
    timeoutMs: task.timeoutMs,
  }
}

function identity(task: ClaimedTask): Record<string, string> {
  const id = toId('task', task.taskId)
  return {
    'X-Belfry-Task-Id': id,
    'X-Belfry-Run-Id': toId('run', task.runId),
    'X-Belfry-Attempt': String(task.attempt),
    'X-Belfry-Scheduled-At': task.executeAt.toISOString(),
    ...(task.cronJobId === null ? {} : { 'X-Belfry-Cronjob-Id': toId('cron', task.cronJobId) }),
    ...(task.topic === null ? {} : { 'X-Belfry-Topic': task.topic }),
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(task.claimedAt.getTime() / 1000)),
  }
}
