import { isUtf8 } from 'node:buffer'
import {
  type Backoff,
  backoffs,
  checkTargetUrl,
  findBrokenReference,
  findHeaderProblems,
  findUnstorable,
  hostIsVisiblyBlocked,
  inspectJson,
  memberText,
  parseCidrs,
  parseInstant,
  type RetryPolicy,
  retryDefaults,
} from '@belfry/domain'
import { Refused } from './raw-create-callers.ts'

/** What is left of a body once every field of it is checked. */
export type CheckedTask = {
  task: { name: string; url: string; method: string; executeAt: Date; retry: RetryPolicy; timeoutMs: number }
  headers: Record<string, string>
  /** As it was sent. */
  payload: string | undefined
}

const limits = { maxDepth: 32, maxKeys: 10_000 }
const fields = new Set(['name', 'url', 'method', 'headers', 'payload', 'execute_at', 'retry', 'timeout_ms'])
const retryFields = new Set(['max_retries', 'backoff', 'base_delay_ms', 'max_delay_ms'])
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const lastInstant = Date.UTC(2100, 0)
const opened = parseCidrs('127.0.0.0/8')

/** Checks a body field by field, by the same rules as Belfry; only the first fault is told. */
export function readTask(bytes: Buffer): CheckedTask {
  if (!isUtf8(bytes)) throw new Refused(400, 'not UTF-8')
  const text = bytes.toString()
  const inspected = inspectJson(text, limits)
  if (!inspected.ok) throw new Refused(400, inspected.reason)
  require(findUnstorable(text) === null, 'what cannot be stored')
  const body = objectOf(inspected.value, fields, 'the body')
  const { name, url, method, headers = {}, payload, execute_at: at, timeout_ms: timeoutMs = 30_000 } = body
  require(typeof name === 'string' && name !== '' && [...name].length <= 200 && !/[\p{Cc}\p{Cs}]/u.test(name), 'name')
  require(typeof url === 'string' && checkTargetUrl(url) === null, 'url')
  require(!hostIsVisiblyBlocked(new URL(url).hostname, opened), 'url')
  require(typeof method === 'string' && methods.has(method), 'method')
  require(typeof headers === 'object' && headers !== null && !Array.isArray(headers), 'headers')
  require(findHeaderProblems(headers as Record<string, unknown>).length === 0, 'headers')
  require(!refersWrongly(payload), 'payload')
  const executeAt = typeof at === 'string' ? parseInstant(at) : null
  require(executeAt !== null && executeAt.getTime() < lastInstant, 'execute_at')
  require(isWithin(timeoutMs, 1_000, 300_000), 'timeout_ms')
  return {
    task: { name, url, method, executeAt, retry: readRetry(body.retry ?? {}), timeoutMs },
    headers: headers as Record<string, string>, // checked above
    payload: memberText(text, ['payload']),
  }
}

function readRetry(given: unknown): RetryPolicy {
  const retry = objectOf(given, retryFields, 'retry')
  const { max_retries: maxRetries = retryDefaults.maxRetries, backoff = retryDefaults.backoff } = retry
  const {
    base_delay_ms: baseDelayMs = retryDefaults.baseDelayMs,
    max_delay_ms: maxDelayMs = retryDefaults.maxDelayMs,
  } = retry
  require(isWithin(maxRetries, 0, 20), 'retry.max_retries')
  require((backoffs as readonly unknown[]).includes(backoff), 'retry.backoff')
  require(isWithin(baseDelayMs, 1_000, 3_600_000), 'retry.base_delay_ms')
  require(isWithin(maxDelayMs, 1_000, 86_400_000) && baseDelayMs <= maxDelayMs, 'retry.max_delay_ms')
  return { maxRetries, backoff: backoff as Backoff, baseDelayMs, maxDelayMs }
}

function objectOf(value: unknown, known: ReadonlySet<string>, what: string): Record<string, unknown> {
  require(typeof value === 'object' && value !== null && !Array.isArray(value), what)
  for (const name in value) require(known.has(name), name)
  return value as Record<string, unknown>
}

function refersWrongly(value: unknown): boolean {
  if (typeof value === 'string') return findBrokenReference(value) !== null
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) if (refersWrongly((value as Record<string, unknown>)[name])) return true
  return false
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most
}

function require(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Refused(400, `${what} is not valid`)
}
