import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import { toId } from '@belfry/domain/id'
import { writeInstant } from '@belfry/domain/instant'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { requestBody } from '@belfry/domain/request-body'
import { version } from '@belfry/domain/version'
import { payloadOf } from '@belfry/present/payload-of'
import { depthHeader, depthHeaders, type MasterKeys } from '@belfry/vault'
import type { AttemptRequest } from '../connections/apply-connection.ts'
import type { UnsentOutcome } from '../egress/outcome.ts'
import { type OwnFailure, secretMissing } from '../secrets/attempt-outcome.ts'
import type { AttemptSecrets } from '../secrets/attempt-secrets.ts'
import { fillRequest, type RequestParts } from '../secrets/fill-request.ts'
import { sign, signMessage } from '../secrets/sign.ts'

/** The public ids of an attempt, and its number within its task, from 1. */
export type AttemptIds = { task: string; run: string; workspace: string; attempt: number }

/** The headers by which an installation identifies itself. */
export type Identity = {
  /** `Belfry/<version>`, and how to reach its operator. */
  userAgent: string
  /** The value of `X-Belfry-Depth` for tasks of each depth, from 0. */
  depths: readonly string[]
}

/** @param abuseContact - A URL or an email address; null when there is none. */
export function createIdentity(abuseContact: string | null, masterKeys: MasterKeys): Identity {
  const contact = abuseContact === null ? '' : ` (+${abuseContact})`
  return { userAgent: `Belfry/${version}${contact}`, depths: depthHeaders(masterKeys) }
}

/** Returns the parts of a task's request. */
export function requestPartsOf(task: ClaimedTask): RequestParts {
  const headers = JSON.parse(task.headers) as Record<string, string> // validated and stored by the API
  // Secrets are not filled in a raw body.
  const payload = task.contentType ? null : payloadOf(task)
  const body = payload === null ? null : requestBody(payload, headers)
  return { url: task.url, headers, body, isJson: body === payload }
}

/** Builds the request of an attempt: the task's own headers and body, and the headers that identify the call. */
export function buildRequest(
  task: ClaimedTask,
  ids: AttemptIds,
  parts: RequestParts,
  { signingKeys, messageKey, names, secrets, keepsResponse }: AttemptSecrets,
  traceparent: string | null,
  identity: Identity,
): AttemptRequest {
  const filled = names.length === 0 ? null : fillRequest(parts, names, secrets)
  const timestamp = String(Math.floor(task.claimedAt.getTime() / 1000))
  const headers = defaults(task, parts, traceparent, identity)
  Object.assign(headers, parts.headers)
  identify(headers, task, ids, timestamp)
  if (task.qstash != null) identifyMessage(headers, task, JSON.parse(task.qstash))
  headers[depthHeader] = identity.depths[task.depth ?? 0] ?? ''
  if (signingKeys === null)
    return unsendable(secretMissing('Nothing was sent: the workspace has been deleted.'), headers)
  if (filled && 'kind' in filled) return unsendable(filled, headers)
  const { url, body: text } = filled ?? parts
  const body = task.contentType ? Buffer.from(task.payload ?? '', 'base64') : text === null ? null : Buffer.from(text)
  headers['webhook-signature'] = sign(signingKeys, ids.task, timestamp, body ?? '')
  if (messageKey) headers['Upstash-Signature'] = signMessage(messageKey, url, Number(timestamp), body ?? '')
  const sent = filled ? Object.assign({}, headers, filled.headers) : headers
  const outgoing = { url, method: task.method, headers: sent, body, timeoutMs: task.timeoutMs }
  const redactor = filled?.redactor ?? null
  return { outgoing, shownHeaders: headers, redactor, keepsResponse, sender: null, renew: null }
}

/** Returns a request that cannot be sent. */
export function unsendable(
  outgoing: OwnFailure | UnsentOutcome,
  shownHeaders: Record<string, string> = {},
): AttemptRequest {
  return { outgoing, shownHeaders, redactor: null, keepsResponse: true, sender: null, renew: null }
}

function defaults(
  { payload, contentType }: ClaimedTask,
  { headers }: RequestParts,
  traceparent: string | null,
  { userAgent }: Identity,
): Record<string, string> {
  const all: Record<string, string> = { 'User-Agent': userAgent, Accept: '*/*', 'Accept-Encoding': 'identity' }
  if (payload !== null) all['Content-Type'] = contentType ?? 'application/json'
  if (traceparent !== null) all.traceparent = traceparent
  for (const own of Object.keys(headers)) {
    for (const name of Object.keys(all)) if (name.toLowerCase() === own.toLowerCase()) delete all[name]
  }
  return all
}

function identify(headers: Record<string, string>, task: ClaimedTask, ids: AttemptIds, timestamp: string): void {
  headers['X-Belfry-Task-Id'] = ids.task
  headers['X-Belfry-Run-Id'] = ids.run
  headers['X-Belfry-Attempt'] = String(ids.attempt)
  headers['X-Belfry-Scheduled-At'] = writeInstant(task.executeAt)
  if (task.cronJobId !== null) headers['X-Belfry-Cronjob-Id'] = toId('cron', task.cronJobId)
  if (task.topic !== null) headers['X-Belfry-Topic'] = task.topic
  headers['webhook-id'] = ids.task
  headers['webhook-timestamp'] = timestamp
}

function identifyMessage(headers: Record<string, string>, task: ClaimedTask, message: QstashFields): void {
  headers['Upstash-Message-Id'] = toId('msg', task.taskId)
  headers['Upstash-Retried'] = String(task.attempt - task.lost - 1)
  if (message.scheduleId !== undefined) headers['Upstash-Schedule-Id'] = message.scheduleId
  if (message.topicName !== undefined) headers['Upstash-Topic-Name'] = message.topicName
  if (message.callerIP !== undefined) headers['Upstash-Caller-Ip'] = message.callerIP
}
