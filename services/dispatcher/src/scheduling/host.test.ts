import { expect, it } from 'vitest'
import { noBlocks, wasBlocked } from './host.ts'

it('tells whether a queue was blocked after a time, also after one before the process began', () => {
  expect(wasBlocked({ host_rate: 10, host_paused: 30 }, 20)).toBe(true)
  expect(wasBlocked({ host_rate: 10, host_paused: 20 }, 20)).toBe(false)
  expect(wasBlocked({ host_rate: 10 }, -5)).toBe(true)
  expect(wasBlocked({}, -5)).toBe(false)
  expect(wasBlocked(noBlocks, -5)).toBe(false)
})
