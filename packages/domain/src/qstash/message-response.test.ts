import { expect, it } from 'vitest'
import { type AttemptOutcome, nextAttempt } from '../next-attempt.ts'
import { retryDefaults } from '../retry.ts'

const now = new Date('2026-11-21T02:20:00Z')
const policy = { ...retryDefaults, maxRetries: 3, delaysMs: [1_000, 5_000, 9_000] }
const next = (outcome: AttemptOutcome, attempt = 1) =>
  nextAttempt({ policy, attempt, outcome, now, random: Math.random, isMessage: true })
const response = (status: number, headers: Record<string, string | string[]> = {}): AttemptOutcome => ({
  kind: 'response',
  status,
  headers,
})
const retryIn = (delayMs: number) => ({ state: 'retrying', delayMs })
const dead = { state: 'dead' }

it('uses the delays of the message, one after the other, until no retry is left', () => {
  expect([1, 2, 3, 4].map(attempt => next(response(500), attempt))).toEqual([
    retryIn(1_000),
    retryIn(5_000),
    retryIn(9_000),
    dead,
  ])
})

it('succeeds with any 2xx, and retries every other status, 410 too', () => {
  expect([200, 299].map(status => next(response(status)))).toEqual([{ state: 'success' }, { state: 'success' }])
  expect([199, 301, 400, 410, 489].map(status => next(response(status)))).toEqual(Array(5).fill(retryIn(1_000)))
})

it('ends with 489 and Upstash-NonRetryable-Error', () => {
  expect(next(response(489, { 'upstash-nonretryable-error': 'true' }))).toEqual(dead)
  expect(next(response(489, { 'upstash-nonretryable-error': 'false' }))).toEqual(retryIn(1_000))
  expect(next(response(500, { 'upstash-nonretryable-error': 'true' }))).toEqual(retryIn(1_000))
})

it.each([
  [{ 'retry-after': '30' }, 30_000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': ' 30 \t' }, 30_000],
  [{ 'x-ratelimit-reset-requests': '6m5s ' }, 365_000],
  [{ 'retry-after': ['7', '9'] }, 7_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 02:20:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 02:19:30 GMT' }, 0],
  [{ 'x-ratelimit-reset': '12' }, 12_000],
  [{ 'x-ratelimit-reset-requests': '6m5s' }, 365_000],
  [{ 'x-ratelimit-reset-requests': '120ms' }, 120],
  [{ 'x-ratelimit-reset-tokens': '1h0m1.5s' }, 3_601_500],
  [{ 'x-ratelimit-reset-tokens': '1s', 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '86400' }, 86_400_000],
  [{ 'retry-after': '86401' }, 1_000],
  [{ 'retry-after': 'soon' }, 1_000],
  [{ 'retry-after': '-1' }, 1_000],
  [{ 'retry-after': '5 s' }, 1_000],
])('retries when the target asks, with %j', (headers, delayMs) => {
  for (const status of [400, 429, 500]) expect(next(response(status, headers))).toEqual(retryIn(delayMs))
})

it('treats failures without a response as those of a task', () => {
  expect(next({ kind: 'failure', code: 'timeout' })).toEqual(retryIn(1_000))
  expect(next({ kind: 'failure', code: 'blocked_address' })).toEqual(dead)
  expect(next({ kind: 'failure', code: 'worker_lost' }, 4)).toEqual(retryIn(0))
})
