import { expect, it } from 'vitest'
import { type CircuitRules, createCircuitBreaker, type HealthSignal, healthSignalOf } from './circuit-breaker.ts'

/** A host whose attempts start and end at once, at the clock's time. */
function setup(rules?: CircuitRules) {
  const breaker = createCircuitBreaker(rules)
  const clock = { now: 1_000_000 }
  const attempt = (signal: HealthSignal) => breaker.end(breaker.begin(), signal, clock.now)
  const attempts = (count: number, signal: HealthSignal) => Array.from({ length: count }, () => attempt(signal))
  return { breaker, clock, attempt, attempts, allows: () => breaker.allows(clock.now) }
}

it('opens for 30 seconds once half of at least 20 attempts have failed', () => {
  const { breaker, clock, attempt, attempts, allows } = setup()
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
  expect(allows()).toBe(true)
  expect(attempt('failing')).toEqual({ to: 'open', until: clock.now + 30_000 })
  expect(breaker.openUntil).toBe(clock.now + 30_000)
  clock.now += 29_999
  expect(allows()).toBe(false)
  clock.now += 1
  expect(allows()).toBe(false)
  breaker.allowProbes(clock.now + 10_000)
  expect(allows()).toBe(true)
  clock.now += 10_000
  expect(allows()).toBe(false)
})

it('opens as its rules say, or never', () => {
  const { breaker, clock, attempts } = setup({ failurePercent: 90, minAttempts: 10, openMs: 5_000 })
  attempts(1, 'healthy')
  expect(attempts(9, 'failing').at(-1)).toEqual({ to: 'open', until: clock.now + 5_000 })
  expect(breaker.openUntil).toBe(clock.now + 5_000)
  expect(setup({ failurePercent: 0, minAttempts: 1, openMs: 5_000 }).attempts(100, 'failing')).toEqual(
    Array(100).fill(null),
  )
})

it('is opened for another dispatcher, for longer but not for less long', () => {
  const { breaker, clock, allows } = setup()
  const before = breaker.begin()
  expect(breaker.openUntilAtLeast(clock.now + 1_000)).toEqual({ to: 'open', until: clock.now + 1_000 })
  expect(allows()).toBe(false)
  breaker.allowProbes(clock.now + 60_000)
  expect(breaker.openUntilAtLeast(clock.now + 900)).toBeNull()
  expect(breaker.end(before, 'healthy', clock.now)).toBeNull()
  clock.now += 1_000
  expect(allows()).toBe(true)
  expect(breaker.openUntilAtLeast(clock.now + 500)).toEqual({ to: 'open', until: clock.now + 500 })
  clock.now += 500
  expect(allows()).toBe(false) // it must ask again whether it may probe
})

it('stays closed while fewer than half fail, and opens when half do', () => {
  const { clock, attempt, attempts } = setup()
  attempts(20, 'healthy')
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
  expect(attempt('failing')).toEqual({ to: 'open', until: clock.now + 30_000 })
})

it('counts the last minute only', () => {
  const { clock, attempts } = setup()
  attempts(19, 'failing')
  clock.now += 65_000
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
})

it('does not count attempts that show nothing', () => {
  const { attempts } = setup()
  expect(attempts(100, null)).toEqual(Array(100).fill(null))
})

it('allows one probe at a time while half-open, and opens again when three of them fail', () => {
  const { breaker, clock, attempt, attempts, allows } = setup()
  attempts(20, 'failing')
  clock.now += 30_000
  breaker.allowProbes(clock.now + 30_000)
  const probe = breaker.begin()
  expect(allows()).toBe(false)
  expect(breaker.end(probe, 'failing', clock.now)).toBeNull()
  expect(allows()).toBe(true)
  expect([attempt('failing'), attempt('failing')]).toEqual([null, { to: 'open', until: clock.now + 30_000 }])
  expect(allows()).toBe(false)
  clock.now += 30_000
  breaker.allowProbes(clock.now + 30_000)
  expect(attempt(null)).toBeNull() // the task of this probe was gone
  expect(allows()).toBe(true)
  expect([attempt('failing'), attempt('failing'), attempt('healthy')]).toEqual([null, null, { to: 'closed' }])
  expect([breaker.begin(), breaker.begin()].map(allows)).toEqual([true, true])
})

it('counts from zero after it has closed', () => {
  const { clock, attempts } = setup()
  attempts(20, 'failing')
  clock.now += 30_000
  attempts(1, 'healthy')
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
})

it('ignores how attempts end that started before it opened', () => {
  const { breaker, clock, attempts, allows } = setup()
  const old = [breaker.begin(), breaker.begin()]
  attempts(20, 'failing')
  clock.now += 30_000
  breaker.begin()
  expect(old.map((one, i) => breaker.end(one, i === 0 ? 'healthy' : 'failing', clock.now))).toEqual([null, null])
  expect(allows()).toBe(false)
})

it('is idle a minute after the last attempt, and twenty minutes after it became half-open', () => {
  const { breaker, clock, attempts } = setup()
  attempts(1, 'healthy')
  expect(breaker.isIdle(clock.now + 59_000)).toBe(false)
  expect(breaker.isIdle(clock.now + 66_000)).toBe(true)
  attempts(20, 'failing')
  expect(breaker.isIdle(clock.now + 1_229_999)).toBe(false)
  expect(breaker.isIdle(clock.now + 1_230_000)).toBe(true)
})

it('counts from zero after a reset, and ignores earlier attempts', () => {
  const { breaker, attempts, allows } = setup()
  const before = breaker.begin()
  attempts(20, 'failing')
  breaker.reset()
  expect([allows(), breaker.openUntil]).toEqual([true, null])
  expect(breaker.end(before, 'failing', 1_000_000)).toBeNull()
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
})

it.each([
  [200, 'healthy'],
  [302, 'healthy'],
  [404, 'healthy'],
  [410, 'healthy'],
  [429, 'failing'],
  [500, 'failing'],
  [503, 'failing'],
])('reads status %i as %s', (status, signal) => {
  expect(healthSignalOf({ kind: 'response', status })).toBe(signal)
})

it.each([
  ['timeout', 'failing'],
  ['connection_refused', 'failing'],
  ['connection_reset', 'failing'],
  ['dns', 'failing'],
  ['tls', 'failing'],
  ['invalid_response', 'failing'],
  ['blocked_address', null],
  ['worker_lost', null],
])('reads %s as %s', (code, signal) => {
  expect(healthSignalOf({ kind: 'failure', code })).toBe(signal)
})

it('learns nothing about a host that was not called', () => {
  expect(healthSignalOf({ kind: 'unsent' })).toBeNull()
})
