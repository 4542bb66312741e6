import { label } from '@belfry/contract/task-controls'
import { parseDuration } from '@belfry/domain/qstash/parse-duration'
import type { QstashFlowControl } from '@belfry/domain/qstash/qstash-fields'
import { retryDelays } from '@belfry/domain/qstash/retry-delays'
import { findHeaderProblems, headerCase } from '@belfry/domain/request-headers'
import { timeoutLimits } from '@belfry/domain/timeout'
import { entriesOf } from '@belfry/runtime'
import { badRequest, notOffered, readNumber } from '../qstash-error.ts'

/** Header names in lower case. */
export type MessageHeaders = Readonly<Record<string, string>>

/** @throws QstashError (501) for a message of Upstash Workflow. */
export function refuseWorkflow(headers: MessageHeaders): void {
  if (Object.keys(headers).some(name => name.startsWith('upstash-workflow-'))) {
    throw notOffered('Belfry does not run Upstash Workflow.')
  }
}

/** How and when a message is delivered, as its headers say. */
export type MessageOptions = ReturnType<typeof readOptions>

/** Reads the headers of a publication. Ignores those that it does not know. */
export function readOptions(headers: MessageHeaders) {
  refuseWorkflow(headers)
  const get = (name: string) => headers[`upstash-${name}`] || undefined
  return {
    ...readDelivery(headers, 'upstash-'),
    contentType: headers['content-type'] || null,
    /** The earliest time of the first attempt, in epoch milliseconds. Wins over `delayMs`. */
    notBefore: readNotBefore(get('not-before')),
    callback: readCallback(headers, 'callback'),
    failureCallback: readCallback(headers, 'failure-callback'),
    deduplicationId: get('deduplication-id') ?? null,
    deduplicatesByContent: get('content-based-deduplication')?.toLowerCase() === 'true',
    queue: get('queue-name') ?? null,
    flowControl: readFlowControl(get('flow-control-key'), get('flow-control-value')),
    labels: readLabels(get('label')),
    redact: readRedaction(get('redact-fields')),
    cron: get('cron') ?? null,
    scheduleId: readScheduleId(get('schedule-id')),
  }
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const defaultRetries = '3'
const maxRetries = 20
const defaultTimeoutMs = 300_000

/** What a message and a callback both have. */
export type Delivery = ReturnType<typeof readDelivery>

function readDelivery(headers: MessageHeaders, prefix: string) {
  const get = (name: string) => headers[prefix + name] || undefined
  const named = (name: string) => headerCase(prefix + name)
  const sent = (get('method') ?? 'POST').toUpperCase()
  const method = methods.find(one => one === sent)
  if (!method) throw badRequest(`invalid ${named('method')}: it must be one of ${methods.join(', ')}`)
  const retries = readNumber(`${named('retries')}: it`, get('retries')?.trim() ?? defaultRetries, 0, maxRetries)
  const retryDelay = get('retry-delay')
  const [delay, timeout] = [get('delay'), get('timeout')]
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : readDuration(named('timeout'), timeout)
  if (timeoutMs < timeoutLimits.min || timeoutMs > timeoutLimits.max) {
    throw badRequest(`invalid ${named('timeout')}: it must be between 1s and ${timeoutLimits.max / 1000}s`)
  }
  return {
    method,
    delayMs: delay === undefined ? 0 : readDuration(named('delay'), delay),
    retries,
    delaysMs: retryDelays(retries, retryDelay),
    retryDelay,
    timeoutMs,
    /** The headers that are passed on, without the prefix. */
    headers: readForwarded(headers, `${prefix}forward-`),
  }
}

// Clients that forward all headers of an incoming request also send the headers of its connection.
const ownHeaders =
  /^(host|content-length|transfer-encoding|te|trailers?|connection|keep-alive|upgrade|expect|http2-settings|__proto__|proxy-.*|webhook-.*|x-belfry-.*|upstash-(signature|message-id|retried|schedule-id|topic-name|caller-ip))$/

function readForwarded(headers: MessageHeaders, prefix: string): Record<string, string> {
  const names = Object.keys(headers).filter(
    name => name.startsWith(prefix) && !ownHeaders.test(name.slice(prefix.length)),
  )
  const forwarded = Object.fromEntries(names.map(name => [name.slice(prefix.length), headers[name] ?? '']))
  const [problem] = findHeaderProblems(forwarded)
  if (problem) throw badRequest(`invalid header ${problem.name || 'names'}: ${problem.message}`)
  return forwarded
}

function readCallback(headers: MessageHeaders, name: string) {
  const url = headers[`upstash-${name}`]
  return url ? { ...readDelivery(headers, `upstash-${name}-`), url } : null
}

const endOf2099S = Date.UTC(2100, 0) / 1000

function readNotBefore(value: string | undefined): number | null {
  if (value === undefined) return null
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : Number.NaN
  if (seconds < endOf2099S) return seconds * 1000
  throw badRequest('invalid Upstash-Not-Before: it must be a Unix timestamp in seconds, before the year 2100')
}

/** Checks a flow-control key. The name of its queue must be valid. */
export function checkFlowControlKey(key: string): void {
  if (/^[A-Za-z0-9._:/-]{1,100}$/.test(key)) return
  throw badRequest('invalid Upstash-Flow-Control-Key: use up to 100 letters, digits and . _ : / -')
}

function readFlowControl(key: string | undefined, value: string | undefined): QstashFlowControl | null {
  if (key === undefined) {
    if (value === undefined) return null
    throw badRequest('invalid Upstash-Flow-Control-Value: it needs Upstash-Flow-Control-Key')
  }
  checkFlowControlKey(key)
  const parts = (value ?? '').split(',').map(part => part.split('=').map(text => text.trim()))
  const limits: QstashFlowControl = { key }
  for (const [name = '', amount = ''] of parts) {
    if (name === 'parallelism') limits.parallelism = readNumber(`Upstash-Flow-Control-Value: ${name}`, amount, 1, 1000)
    else if (name === 'rate') limits.rate = readNumber(`Upstash-Flow-Control-Value: ${name}`, amount, 1, 10_000)
    else if (name === 'period') limits.period = readPeriod(amount)
    else if (name !== '')
      throw badRequest(`invalid Upstash-Flow-Control-Value: "${name}" is not parallelism, rate or period`)
  }
  if (limits.parallelism !== undefined || limits.rate !== undefined) return limits
  throw badRequest('invalid Upstash-Flow-Control-Value: give parallelism or rate')
}

function readPeriod(amount: string): number {
  const seconds = readDuration('Upstash-Flow-Control-Value', amount) / 1000
  if (seconds >= 1 && seconds <= 86_400) return seconds
  throw badRequest('invalid Upstash-Flow-Control-Value: period must be from 1s to 1d')
}

const maxLabels = 10

function readLabels(value = ''): string[] | null {
  const labels = [...new Set(entriesOf(value))]
  if (labels.length > maxLabels) throw badRequest(`invalid Upstash-Label: at most ${maxLabels} labels are allowed`)
  for (const one of labels) {
    if (!('value' in label(one)))
      throw badRequest(`invalid Upstash-Label "${one}": use up to 100 letters, digits and . _ : / = @ + -`)
  }
  return labels.length === 0 ? null : labels
}

const maxRedactionLength = 8192

function readRedaction(value = ''): string[] | null {
  if (value.length > maxRedactionLength) throw badRequest('invalid Upstash-Redact-Fields: it is too long')
  const fields = entriesOf(value)
  const wrong = fields.find(field => !/^(body|header|header\[[^\]]+\])$/.test(field))
  if (wrong === undefined) return fields.length === 0 ? null : fields
  throw badRequest(`invalid Upstash-Redact-Fields: "${wrong}" is not body, header or header[name]`)
}

function readScheduleId(value: string | undefined): string | null {
  if (value === undefined || /^[\x21-\x7e]{1,255}$/.test(value)) return value ?? null
  throw badRequest('invalid Upstash-Schedule-Id: use up to 255 visible characters of ASCII')
}

const maxMs = 73 * 365 * 86_400_000

/** Reads a duration such as `10s`, `1m`, `2h`, `7d` or `1h30m` in milliseconds. A number without a unit is seconds. */
function readDuration(header: string, value: string): number {
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseDuration(text)
  if (ms === null) throw badRequest(`invalid ${header}: "${value}" is not a duration such as 10s, 1m, 2h or 7d`)
  if (ms <= maxMs) return ms
  throw badRequest(`invalid ${header}: the duration is too long`)
}
