import { type Retry, retryPolicy } from '@belfry/contract/retry'
import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import { newUuid } from '@belfry/domain/id'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { toStoredRetry } from '../../tasks/stored-request.ts'
import { badRequest } from '../qstash-error.ts'
import type { CallbackOptions, Delivery, MessageOptions } from './message-options.ts'

/** The endpoint that a message goes to, and the URL group that it belongs to. */
export type Endpoint = { url: string; topicName?: string; endpointName?: string }

export type Message = { options: MessageOptions; body: Buffer; callerIP: string }

/** The request of a message, as its task, or the cron job of a schedule, stores it. */
export function toStoredMessage({ url, topicName, endpointName }: Endpoint, { options, body, callerIP }: Message) {
  const { callback, failureCallback, flowControl, redact, retryDelay } = options
  const message = { callerIP }
  const fields: QstashFields = {
    ...message,
    ...(retryDelay !== undefined && { retryDelay }),
    ...(options.scheduleId !== null && { scheduleId: options.scheduleId }),
    ...(topicName !== undefined && { topicName }),
    ...(endpointName !== undefined && { endpointName }),
    ...(flowControl && { flowControl }),
    ...(redact && { redact }),
    ...((callback || failureCallback) && {
      callbacks: {
        ...(callback && { on_attempt: { method: callback.method, delayMs: callback.delayMs, message } }),
        ...(failureCallback && {
          on_failure: { method: failureCallback.method, delayMs: failureCallback.delayMs, message },
        }),
      },
    }),
  }
  const callbacks = {
    ...(callback && { on_attempt: toStoredCallback(callback) }),
    ...(failureCallback && { on_failure: toStoredCallback(failureCallback) }),
  }
  return {
    url,
    method: options.method,
    headers: JSON.stringify(options.headers),
    ...toPayload(body, options.contentType),
    ...toStoredRetry(retryOf(options)),
    timeoutMs: options.timeoutMs,
    callbacks: callback || failureCallback ? JSON.stringify(callbacks) : null,
    queue: queueOf(options),
    labels: options.labels,
    qstash: JSON.stringify(fields),
  }
}

/** Returns the task of a message. `executeAt` null: now. */
export function toMessageTask(
  workspaceId: string,
  endpoint: Endpoint,
  message: Message,
  executeAt: Date | null,
  id = newUuid(),
): NewTask {
  return {
    ...toStoredMessage(endpoint, message),
    id,
    workspaceId,
    source: 'task',
    executeAt,
    name: nameOf(endpoint.url),
    topic: null,
    eventId: null,
    replayOf: null,
  }
}

const maxNameLength = 200

/** Returns the name of the task or the cron job for a URL: its host and its path. */
export function nameOf(url: string): string {
  const [hostAndPath = url] = url.replace(/^https?:\/\//i, '').split('?')
  return Array.from(hostAndPath).slice(0, maxNameLength).join('')
}

const flowControlPrefix = 'flow-control/'

/** Returns the name of the queue of a flow-control key. */
export function queueOfFlowControl(key: string): string {
  return flowControlPrefix + key
}

/** Returns the flow-control key of a queue; null when the queue is none of a key. */
export function flowControlOfQueue(queue: string): string | null {
  return queue.startsWith(flowControlPrefix) ? queue.slice(flowControlPrefix.length) : null
}

function queueOf({ queue, flowControl }: MessageOptions): string | null {
  return flowControl ? queueOfFlowControl(flowControl.key) : queue
}

// A body without a type gets the type of unknown bytes.
function toPayload(body: Buffer, contentType: string | null): { payload: string | null; contentType: string | null } {
  if (body.length === 0 && contentType === null) return { payload: null, contentType: null }
  const type = contentType ?? 'application/octet-stream'
  const [problem] = findHeaderProblems({ 'Content-Type': type })
  if (problem) throw badRequest(`invalid header Content-Type: ${problem.message}`)
  return { payload: body.toString('base64'), contentType: type }
}

function toStoredCallback(callback: CallbackOptions) {
  return {
    url: callback.url,
    headers: callback.headers,
    retry: retryOf(callback),
    timeout_ms: callback.timeoutMs,
  }
}

function retryOf({ delaysMs }: Delivery): Retry {
  return delaysMs.length > 0 ? { delays_ms: delaysMs } : retryPolicy.parse({ max_retries: 0 })
}
