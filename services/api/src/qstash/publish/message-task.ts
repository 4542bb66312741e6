import type { QueueField } from '@belfry/contract/queue'
import { type Retry, retryPolicy } from '@belfry/contract/retry'
import type { CreateTaskBody } from '@belfry/contract/task'
import { hostIsVisiblyBlocked } from '@belfry/domain/address'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { queueNameForm, queueNameRule } from '@belfry/domain/queue-name'
import { billingPeriod } from '@belfry/domain/quota'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { checkTargetUrl, parseUrl } from '@belfry/domain/target-url'
import { isTopic } from '@belfry/domain/topic'
import type { Context } from '../../context.ts'
import type { QueueDefaults } from '../../queues/queues.ts'
import { type Quota, refuseOverQuota } from '../../quotas/quotas.ts'
import type { Publication } from '../call.ts'
import { badRequest, notOffered, QstashError } from '../qstash-error.ts'
import { type Delivery, type MessageOptions, readOptions } from './message-options.ts'

/** Reads the options of a publication, and checks that Belfry can keep them all. */
export function readPublished(ctx: Context, { headers, queue }: Publication): MessageOptions {
  const options = readOptions(headers)
  if (queue !== undefined) options.queue = queue
  for (const callback of [options.callback, options.failureCallback]) if (callback) checkUrl(ctx, callback.url)
  if (options.queue !== null && options.flowControl) {
    throw notOffered('A message has a queue or a flow-control key, not both.')
  }
  if (options.queue !== null) checkQueueName(options.queue)
  return options
}

/** The endpoint that a message goes to, and the URL group that it belongs to. */
export type Endpoint = { url: string; topicName?: string; endpointName?: string }

type Payload = Pick<CreateTaskBody, 'payload_base64' | 'content_type'>

/** Returns the body that creates the task, or the cron job, of a message. */
export function toBody({ url }: Endpoint, options: MessageOptions, payload: Payload) {
  const { callback, failureCallback } = options
  return {
    name: nameOf(url),
    url,
    method: options.method,
    ...toRequest(options),
    ...payload,
    queue: toQueueField(options),
    on_success: null,
    on_attempt: callback && { url: callback.url, ...toRequest(callback) },
    on_failure: failureCallback && { url: failureCallback.url, ...toRequest(failureCallback) },
    labels: options.labels ?? [],
  }
}

/** Returns what a message has beyond a task, as it is stored. */
export function toStoredFields(
  { topicName, endpointName }: Endpoint,
  options: MessageOptions,
  { address: callerIP }: { address: string },
): string {
  const { callback, failureCallback, flowControl, redact, retryDelay } = options
  // The body of a callback repeats the body and the headers of its message.
  const message: QstashFields = { callerIP, ...(redact && { redact: ['body'] }) }
  const ofCallback = ({ method, delayMs }: Delivery) => ({ method, delayMs, message })
  const fields: QstashFields = {
    callerIP,
    ...(retryDelay !== undefined && { retryDelay }),
    ...(options.scheduleId !== null && { scheduleId: options.scheduleId }),
    ...(options.cron !== null && options.delayMs > 0 && { delayMs: options.delayMs }),
    ...(topicName !== undefined && { topicName }),
    ...(endpointName !== undefined && { endpointName }),
    ...(flowControl && { flowControl }),
    ...(redact && { redact }),
    ...((callback || failureCallback) && {
      callbacks: {
        ...(callback && { on_attempt: ofCallback(callback) }),
        ...(failureCallback && { on_failure: ofCallback(failureCallback) }),
      },
    }),
  }
  return JSON.stringify(fields)
}

const maxNameLength = 200

// The name of the task or the cron job: the host and the path.
function nameOf(url: string): string {
  const [hostAndPath = url] = url.replace(/^https?:\/\//i, '').split('?')
  return Array.from(hostAndPath).slice(0, maxNameLength).join('')
}

const flowControlPrefix = 'flow-control/'

export function queueOfFlowControl(key: string): string {
  return flowControlPrefix + key
}

/** Returns the flow-control key of a queue; null if it does not belong to a key. */
export function flowControlOfQueue(queue: string): string | null {
  return queue.startsWith(flowControlPrefix) ? queue.slice(flowControlPrefix.length) : null
}

/** Checks the name of a queue. It must not be the name of a flow-control key's queue. */
export function checkQueueName(name: unknown): asserts name is string {
  if (typeof name === 'string' && queueNameForm.test(name) && flowControlOfQueue(name) === null) return
  throw badRequest(`invalid queue name: it must ${queueNameRule}`)
}

// The queue with the limits of the flow-control key.
function toQueueField({ queue, flowControl }: MessageOptions): QueueField | null {
  if (!flowControl) return queue
  const { key, parallelism = null, rate, period = 1 } = flowControl
  const rateLimit = rate === undefined ? null : { count: rate, period_ms: Math.round(period * 1000) }
  return { name: queueOfFlowControl(key), max_concurrent: parallelism, rate_limit: rateLimit }
}

/** A new queue keeps the order. */
export const queueDefaults: QueueDefaults = name => (flowControlOfQueue(name) === null ? { ordered: true } : {})

/** Returns the payload of all messages of a publication. A body without a type gets the type of unknown bytes. */
export function toPayload(body: Buffer, { contentType }: MessageOptions): Payload {
  if (body.length === 0 && contentType === null) return {}
  const type = contentType ?? 'application/octet-stream'
  const [problem] = findHeaderProblems({ 'Content-Type': type })
  if (problem) throw badRequest(`invalid header Content-Type: ${problem.message}`)
  return { payload_base64: body.toString('base64'), content_type: type }
}

function toRequest({ headers, delaysMs, timeoutMs }: Delivery) {
  const retry: Retry = delaysMs.length > 0 ? { delays_ms: delaysMs } : retryPolicy.parse({ max_retries: 0 })
  return { headers, retry, timeout_ms: timeoutMs }
}

/** Where a message goes: to a URL, or to the endpoints of a URL group. */
type Destination = { url: string } | { group: string }

/**
 * Reads the destination in a path or a batch. A URL stays as it was sent, because receivers verify it to the letter; only an
 * escaped URL is decoded, and a slash that a proxy has removed after the scheme is restored.
 */
export function readDestination(ctx: Pick<Context, 'config'>, sent: string): Destination {
  if (sent === '') throw badRequest('the destination is missing')
  if (/^api\/(llm|email)\b/.test(sent))
    throw notOffered('Belfry has no provider APIs: publish to the URL of the provider.')
  const text = /^https?%3A/i.test(sent) ? decode(sent) : sent
  if (!/^https?:\//i.test(text)) return readGroup(text)
  const url = text.replace(/^(https?:\/)(?=[^/])/i, '$1/')
  checkUrl(ctx, url)
  return { url }
}

export function checkUrl({ config }: Pick<Context, 'config'>, url: string): void {
  const problem = checkTargetUrl(url)
  if (problem !== null) throw badRequest(`invalid destination url: ${problem}`)
  if (hostIsVisiblyBlocked(parseUrl(url)?.hostname ?? '', config.allowedPrivateTargets)) {
    throw badRequest('invalid destination url: it has a private address, which this installation does not call')
  }
}

function readGroup(sent: string): Destination {
  const group = decode(sent)
  if (isTopic(group)) return { group }
  throw badRequest(
    'invalid destination: it is neither a URL that starts with http:// or https:// nor the name of a URL group',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badRequest('invalid destination: its escapes are not valid')
  }
}

/**
 * Rejects a message that the tier of the organization does not allow. A used-up allowance of executions is a 429 with the
 * headers of QStash's daily limit.
 * @throws QstashError, or AppError `quota_exceeded`.
 */
export function refuseUnpublishable(quota: Quota, body: Buffer, isDueNow: boolean): void {
  const { limits, used } = quota
  if (body.length > limits.payloadBytes) {
    throw new QstashError(413, `the body has ${body.length} bytes; at most ${limits.payloadBytes} are allowed`)
  }
  if (isDueNow && used.executions >= limits.executions) {
    throw new QstashError(
      429,
      `the organization has used the ${limits.executions} executions of its tier for this month`,
      {
        'RateLimit-Limit': String(limits.executions),
        'RateLimit-Remaining': '0',
        'RateLimit-Reset': String(billingPeriod(new Date()).end.getTime() / 1000),
      },
    )
  }
  refuseOverQuota(quota, 'later')
}
