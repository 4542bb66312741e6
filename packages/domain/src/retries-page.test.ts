import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { nextAttempt } from './next-attempt.ts'
import { retryDefaults, retryDelayMs } from './retry.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/retries.md'), 'utf8')
const now = new Date('2026-11-21T02:20:00Z')
const random = () => 0.5

/** Returns how long a policy retries without a response, in seconds. */
function lengthOf(policy: Partial<typeof retryDefaults>): number {
  const full = { ...retryDefaults, ...policy }
  const delays = Array.from({ length: full.maxRetries }, (_, i) => retryDelayMs(full, i + 1, random))
  return delays.reduce((sum, delay) => sum + delay, 0) / 1000
}

it('docs/retries.md has the delays of the default policy', () => {
  const rows = [...page.matchAll(/^\| \d \| ([\d,]+) s \|/gm)].map(([, seconds = '']) => seconds.replace(',', ''))
  const delays = [1, 2, 3, 4, 5].map(n => retryDelayMs(retryDefaults, n, random) / 1000)
  expect(rows.map(Number)).toEqual(delays)
  expect(lengthOf({}) / 60).toBeCloseTo(57, -1)
})

it('docs/retries.md has the length of longer policies', () => {
  expect(lengthOf({ maxRetries: 12 }) / 3600).toBeCloseTo(8, 0)
  expect(lengthOf({ maxRetries: 20 }) / 3600).toBeCloseTo(16, 0)
  expect(lengthOf({ maxRetries: 12, maxDelayMs: 86_400_000 }) / 86_400).toBeGreaterThan(5)
  expect(lengthOf({ maxRetries: 10, backoff: 'linear', baseDelayMs: 5000 }) / 60).toBeCloseTo(4.5, 0)
})

it('docs/retries.md has listed delays as they are made', () => {
  const [, list = ''] = page.match(/"delays_ms": (\[.*?\])/) ?? []
  const delaysMs: number[] = JSON.parse(list)
  const policy = { ...retryDefaults, maxRetries: delaysMs.length, delaysMs }
  expect(delaysMs.map((_, i) => retryDelayMs(policy, i + 1, Math.random))).toEqual([0, 10 * 60_000, 86_400_000])
})

/** The outcomes of the page that end a task at once, that are repeated at once, and that follow the policy. */
it.each([
  ['final', [410, 'blocked_address', 'secret_missing']],
  ['at once', ['worker_lost', 'stale_connection']],
  ['by the policy', [302, 400, 401, 404, 422, 429, 500, 503, 'timeout', 'connection_refused', 'connection_reset']],
  ['by the policy', ['dns', 'tls', 'invalid_response', 'secret_unreadable', 'internal_error']],
])('docs/retries.md says which outcomes are %s', (result, outcomes) => {
  for (const one of outcomes) {
    const outcome =
      typeof one === 'number'
        ? ({ kind: 'response', status: one, headers: {} } as const)
        : ({ kind: 'failure', code: one } as const)
    const next = nextAttempt({ policy: retryDefaults, attempt: 1, outcome, now, random })
    const expected = { final: 'dead', 'at once': 0, 'by the policy': 10_000 }[result]
    expect([one, next.state === 'retrying' ? next.delayMs : next.state]).toEqual([one, expected])
    const row = page.split('\n').find(line => line.startsWith('|') && line.includes(String(one)))
    if (result !== 'by the policy') expect(row).toContain(result)
  }
})
