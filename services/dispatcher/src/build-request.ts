import type { ClaimedTask } from '@belfry/db'
import { type Redactor, requestBody, toId } from '@belfry/domain'
import type { OutgoingRequest } from './egress/send.ts'
import { type SecretMissing, secretMissing } from './secrets/attempt-outcome.ts'
import type { AttemptSecrets } from './secrets/attempt-secrets.ts'
import { fillRequest, type RequestParts } from './secrets/fill-request.ts'
import { sign } from './secrets/sign.ts'

/** An attempt's request: what goes out, or why nothing may, and its headers with references in the place of secrets. */
export type AttemptRequest = {
  outgoing: OutgoingRequest | SecretMissing
  shownHeaders: Record<string, string>
  /** Hides the secrets that go out; null when none does. */
  redactor: Redactor | null
}

const userAgent = 'Belfry/0.1.0'

/** What a task says of its request. */
export function requestPartsOf(task: ClaimedTask): RequestParts {
  const headers = JSON.parse(task.headers) as Record<string, string> // validated and stored by the API
  const body = task.payload === null ? null : requestBody(task.payload, headers)
  return { url: task.url, headers, body, isJson: body === task.payload }
}

/** Builds what is sent for an attempt: the task's own headers and body, and the ones that say what this call is. */
export function buildRequest(
  task: ClaimedTask,
  parts: RequestParts,
  { signingKeys, names, values }: AttemptSecrets,
  traceparent: string | null,
): AttemptRequest {
  const filled = names.length === 0 ? { ...parts, redactor: null } : fillRequest(parts, names, values)
  const headers: Record<string, string> = { ...defaults(parts, traceparent), ...parts.headers, ...identity(task) }
  if (signingKeys === null)
    return unsendable(secretMissing('Nothing was sent: the workspace has been deleted.'), headers)
  if ('kind' in filled) return unsendable(filled, headers)
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  const signature = { 'webhook-signature': sign(signingKeys, id, timestamp, filled.body ?? '') }
  const outgoing = {
    url: filled.url,
    method: task.method,
    headers: { ...headers, ...filled.headers, ...signature },
    body: filled.body,
    timeoutMs: task.timeoutMs,
  }
  return { outgoing, shownHeaders: { ...headers, ...signature }, redactor: filled.redactor }
}

function unsendable(outgoing: SecretMissing, shownHeaders: Record<string, string>): AttemptRequest {
  return { outgoing, shownHeaders, redactor: null }
}

function defaults({ headers, body }: RequestParts, traceparent: string | null): Record<string, string> {
  const given = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  const all: Record<string, string> = { 'User-Agent': userAgent, Accept: '*/*', 'Accept-Encoding': 'identity' }
  if (body !== null) all['Content-Type'] = 'application/json'
  if (traceparent !== null) all.traceparent = traceparent
  return Object.fromEntries(Object.entries(all).filter(([name]) => !given.has(name.toLowerCase())))
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
