import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { UnreadableSecretError } from '@belfry/db/secrets/data-keys'
import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import { toId } from '@belfry/domain/id'
import { writeInstant } from '@belfry/domain/instant'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { isForm, requestBody } from '@belfry/domain/request-body'
import { createRedactor } from '@belfry/domain/secrets/redact'
import { inTurn } from '@belfry/domain/slices'
import { version } from '@belfry/domain/version'
import { payloadOf } from '@belfry/present/payload-of'
import { depthHeader, depthHeaders, type MasterKeys } from '@belfry/vault'
import { type AttemptRequest, applyConnection } from '../connections/apply-connection.ts'
import type { Context } from '../context.ts'
import type { UnsentOutcome } from '../egress/outcome.ts'
import { notSent, type OwnFailure } from '../secrets/attempt-outcome.ts'
import { type AttemptSecrets, peekAttemptSecrets, readAttemptSecrets } from '../secrets/attempt-secrets.ts'
import { fillRequest, mayReferToSecrets, type RequestParts, secretNamesOf } from '../secrets/fill-request.ts'
import { redactFault } from '../secrets/redact-outcome.ts'
import { sign, signMessage } from '../secrets/sign.ts'

/** The public ids of an attempt, and its number within its task, from 1. */
export type AttemptIds = { task: string; run: string; workspace: string; attempt: number }

/** The headers by which an installation identifies itself. */
export type Identity = ReturnType<typeof createIdentity>

/** @param abuseContact - How to reach the operator: a URL, an email address or null. */
export function createIdentity(abuseContact: string | null, masterKeys: MasterKeys) {
  const contact = abuseContact === null ? '' : ` (+${abuseContact})`
  return { userAgent: `Belfry/${version}${contact}`, depths: depthHeaders(masterKeys) }
}

/**
 * Reads the secrets of an attempt, builds its request, and adds the credentials of its connection. Most requests are ready
 * at once.
 * @param waited - See `applyConnection`.
 */
export function prepareRequest(
  ctx: Context,
  task: ClaimedTask,
  ids: AttemptIds,
  traceparent: string | null,
  waited: Promise<unknown> | null,
): AttemptRequest | Promise<AttemptRequest> {
  const parts = requestPartsOf(task)
  const cached = task.connection || mayReferToSecrets(parts) ? null : peekAttemptSecrets(ctx, task, noNames)
  if (cached) return buildRequest(task, ids, parts, cached, traceparent, ctx.identity)
  return prepareSlowly(ctx, task, ids, parts, traceparent, waited)
}

const noNames: readonly string[] = []

// A payload may refer to secrets thousands of times, and many claims arrive at once.
async function prepareSlowly(
  ctx: Context,
  task: ClaimedTask,
  ids: AttemptIds,
  parts: RequestParts,
  traceparent: string | null,
  waited: Promise<unknown> | null,
): Promise<AttemptRequest> {
  const names = mayReferToSecrets(parts) ? await inTurn(() => secretNamesOf(parts)) : noNames
  let secrets: AttemptSecrets
  try {
    secrets = await readAttemptSecrets(ctx, task, names)
  } catch (error) {
    return unsendable(unsentBecause(ctx, ids, error))
  }
  logUnreadable(ctx, ids, secrets)
  const request = await buildWith(secrets, task, ids, parts, traceparent, ctx.identity)
  const { workspaceId, connection: name } = task
  return name ? applyConnection(ctx, { workspaceId, name }, ids, request, waited) : request
}

// An error may quote the request, secrets included.
async function buildWith(
  secrets: AttemptSecrets,
  task: ClaimedTask,
  ids: AttemptIds,
  parts: RequestParts,
  traceparent: string | null,
  identity: Identity,
): Promise<AttemptRequest> {
  try {
    const build = () => buildRequest(task, ids, parts, secrets, traceparent, identity)
    return secrets.names.length === 0 ? build() : await inTurn(build)
  } catch (error) {
    const values = secrets.names.flatMap(name => {
      const secret = secrets.secrets.get(name)
      return secret === undefined || secret instanceof Error ? [] : [{ name, value: secret.value }]
    })
    throw values.length === 0 ? error : await redactFault(error, createRedactor(values))
  }
}

function unsentBecause(ctx: Context, ids: AttemptIds, error: unknown): OwnFailure | UnsentOutcome {
  if (isTransientDatabaseError(error)) {
    return { kind: 'unsent', message: 'The secrets of the workspace cannot be read: the database is away.' }
  }
  if (!(error instanceof UnreadableSecretError)) throw error
  ctx.log.error({ err: error, task: ids.task, run: ids.run }, 'secret.unreadable')
  return notSent('secret_unreadable', 'this installation cannot decrypt a signing secret.')
}

function logUnreadable(ctx: Context, ids: AttemptIds, { names, secrets }: AttemptSecrets): void {
  for (const name of names) {
    const secret = secrets.get(name)
    if (secret instanceof Error) {
      ctx.log.error({ err: secret, secret: name, task: ids.task, run: ids.run }, 'secret.unreadable')
    }
  }
}

function requestPartsOf(task: ClaimedTask): RequestParts {
  const headers = JSON.parse(task.headers) as Record<string, string> // validated and stored by the API
  // Secrets are not filled in a raw body.
  const payload = task.contentType ? null : payloadOf(task, task.taskId, task.executeAt)
  const body = payload === null ? null : requestBody(payload, headers)
  return { url: task.url, headers, body, format: body === payload ? 'json' : isForm(headers) ? 'form' : 'text' }
}

/** Builds the request of an attempt: the task's own headers and body, and the headers that identify the call. */
function buildRequest(
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
  if (signingKeys === null) return unsendable(notSent('secret_missing', 'the workspace has been deleted.'), headers)
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

function unsendable(outgoing: OwnFailure | UnsentOutcome, shownHeaders: Record<string, string> = {}): AttemptRequest {
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
