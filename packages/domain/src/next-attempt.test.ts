import { describe, expect, it } from 'vitest'
import { type AttemptOutcome, nextAttempt } from './next-attempt.ts'
import { retryDefaults } from './retry.ts'

const now = new Date('2026-11-21T02:20:00Z')

function after(outcome: AttemptOutcome, attempt = 1, maxRetries = 5) {
  return nextAttempt({ policy: { ...retryDefaults, maxRetries }, attempt, outcome, now, random: () => 0.5 })
}

function response(status: number, headers: Record<string, string | string[]> = {}): AttemptOutcome {
  return { kind: 'response', status, headers }
}

describe('nextAttempt', () => {
  it.each([200, 201, 204, 299])('treats %i as success, even on the last attempt', status => {
    expect(after(response(status), 6)).toEqual({ state: 'success' })
  })

  it.each([100, 101, 199, 300, 301, 307, 400, 404, 408, 500, 503, 599, 999])('retries after %i', status => {
    expect(after(response(status))).toEqual({ state: 'retrying', delayMs: 10_000 })
  })

  it.each([
    'timeout',
    'connection_refused',
    'connection_reset',
    'dns',
    'tls',
    'invalid_response',
    'secret_unreadable',
    'internal_error',
  ])('tries again after %s', code => {
    expect(after({ kind: 'failure', code })).toEqual({ state: 'retrying', delayMs: 10_000 })
  })

  it.each(['blocked_address', 'secret_missing'])('gives up at once after %s', code => {
    expect(after({ kind: 'failure', code })).toEqual({ state: 'dead' })
  })

  it('gives up at once after 410 Gone', () => {
    expect(after(response(410))).toEqual({ state: 'dead' })
  })

  it('gives up at once after 413 of an MCP client, and of no other', () => {
    const ended = { policy: retryDefaults, attempt: 1, outcome: response(413), now, random: () => 0.5 }
    expect([nextAttempt({ ...ended, isMcp: true }).state, nextAttempt(ended).state]).toEqual(['dead', 'retrying'])
  })

  it('gives up after the first attempt and all retries', () => {
    expect(after(response(500), 5).state).toBe('retrying')
    expect(after(response(500), 6)).toEqual({ state: 'dead' })
    expect(after(response(500), 1, 0)).toEqual({ state: 'dead' })
  })

  it('computes the delay of the retry that follows', () => {
    expect(after(response(500), 3)).toEqual({ state: 'retrying', delayMs: 160_000 })
  })

  it.each([429, 503])('delays the retry when a %i asks for it', status => {
    expect(after(response(status, { 'retry-after': '60' }))).toEqual({ state: 'retrying', delayMs: 60_000 })
    expect(after(response(status, { 'retry-after': 'Sat, 21 Nov 2026 02:25:00 GMT' }))).toMatchObject({
      delayMs: 300_000,
    })
  })

  it.each([
    ['never earlier', response(503, { 'retry-after': '1' }), 10_000],
    ['at most by 24 hours', response(503, { 'retry-after': '999999' }), 86_400_000],
    ['not for nonsense', response(503, { 'retry-after': '-60' }), 10_000],
    ['not for another status', response(500, { 'retry-after': '60' }), 10_000],
    ['by the first of several values', response(503, { 'retry-after': ['60', '90'] }), 60_000],
  ])('moves the retry %s', (_, outcome, delayMs) => {
    expect(after(outcome)).toEqual({ state: 'retrying', delayMs })
  })
})

describe('nextAttempt with listed delays', () => {
  const policy = { ...retryDefaults, maxRetries: 2, delaysMs: [0, 90_000] }
  const next = (outcome: AttemptOutcome, attempt: number) =>
    nextAttempt({ policy, attempt, outcome, now, random: Math.random })

  it('retries after each of them, and then gives up', () => {
    expect([1, 2, 3].map(attempt => next(response(500), attempt))).toEqual([
      { state: 'retrying', delayMs: 0 },
      { state: 'retrying', delayMs: 90_000 },
      { state: 'dead' },
    ])
  })

  it('delays a retry when a 429 asks for it, and makes none earlier', () => {
    const limited = response(429, { 'retry-after': '60' })
    expect([1, 2].map(attempt => next(limited, attempt))).toMatchObject([{ delayMs: 60_000 }, { delayMs: 90_000 }])
  })

  it('repeats an attempt that was lost at once, and uses no delay', () => {
    expect(next({ kind: 'failure', code: 'worker_lost' }, 2)).toEqual({ state: 'retrying', delayMs: 0 })
  })
})

it.each(['worker_lost', 'stale_connection'])(
  'makes another attempt at once after %s, also after the last one',
  code => {
    const given = { kind: 'failure', code } as const
    expect(after(given, 1, 0)).toEqual({ state: 'retrying', delayMs: 0 })
    expect(after(given, 6, 5)).toEqual({ state: 'retrying', delayMs: 0 })
  },
)
