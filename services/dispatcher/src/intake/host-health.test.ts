import { expect, it } from 'vitest'
import { createHostHealth, type Verdict } from './host-health.ts'

/** A host whose attempts start and end at once, at the clock's time. */
function setup() {
  const health = createHostHealth()
  const clock = { now: 1_000_000 }
  const attempt = (verdict: Verdict) => health.end(health.begin(), verdict, clock.now)
  const attempts = (count: number, verdict: Verdict) => Array.from({ length: count }, () => attempt(verdict))
  return { health, clock, attempt, attempts, mayStart: () => health.mayStart(clock.now) }
}

it('rests for 30 seconds once half of at least 20 attempts have failed', () => {
  const { health, clock, attempt, attempts, mayStart } = setup()
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
  expect(mayStart()).toBe(true)
  expect(attempt('failing')).toBe('resting')
  expect(health.restsUntil).toBe(clock.now + 30_000)
  clock.now += 29_999
  expect(mayStart()).toBe(false)
  clock.now += 1
  expect(mayStart()).toBe(true)
})

it('does not rest while fewer than half fail, and does when it comes to half', () => {
  const { attempt, attempts } = setup()
  attempts(20, 'well')
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
  expect(attempt('failing')).toBe('resting')
})

it('looks at the last minute only', () => {
  const { clock, attempts } = setup()
  attempts(19, 'failing')
  clock.now += 65_000
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
})

it('leaves out attempts that say nothing', () => {
  const { attempts } = setup()
  expect(attempts(100, null)).toEqual(Array(100).fill(null))
})

it('is probed by one attempt at a time after its rest, and rests again when three of them fail', () => {
  const { health, clock, attempt, attempts, mayStart } = setup()
  attempts(20, 'failing')
  clock.now += 30_000
  const probe = health.begin()
  expect(mayStart()).toBe(false)
  expect(health.end(probe, 'failing', clock.now)).toBeNull()
  expect(mayStart()).toBe(true)
  expect([attempt('failing'), attempt('failing')]).toEqual([null, 'resting'])
  expect(mayStart()).toBe(false)
  clock.now += 30_000
  expect(attempt(null)).toBeNull() // the task of this probe was gone
  expect(mayStart()).toBe(true)
  expect([attempt('failing'), attempt('failing'), attempt('well')]).toEqual([null, null, 'rested'])
  expect([health.begin(), health.begin()].map(mayStart)).toEqual([true, true])
})

it('begins anew after a rest', () => {
  const { clock, attempts } = setup()
  attempts(20, 'failing')
  clock.now += 30_000
  attempts(1, 'well')
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
})

it('ignores how attempts end that started before the rest', () => {
  const { health, clock, attempts, mayStart } = setup()
  const old = [health.begin(), health.begin()]
  attempts(20, 'failing')
  clock.now += 30_000
  health.begin()
  expect(old.map((one, i) => health.end(one, i === 0 ? 'well' : 'failing', clock.now))).toEqual([null, null])
  expect(mayStart()).toBe(false)
})

it('may be forgotten when a minute has passed since the last attempt, and not while it rests', () => {
  const { health, clock, attempts } = setup()
  attempts(1, 'well')
  expect(health.isForgettable(clock.now + 59_000)).toBe(false)
  expect(health.isForgettable(clock.now + 66_000)).toBe(true)
  attempts(20, 'failing')
  expect(health.isForgettable(clock.now + 600_000)).toBe(false)
})

it('begins anew when it is reset, whatever attempts of before still say', () => {
  const { health, attempts, mayStart } = setup()
  const before = health.begin()
  attempts(20, 'failing')
  health.reset()
  expect([mayStart(), health.restsUntil]).toEqual([true, null])
  expect(health.end(before, 'failing', 1_000_000)).toBeNull()
  expect(attempts(19, 'failing')).toEqual(Array(19).fill(null))
})
