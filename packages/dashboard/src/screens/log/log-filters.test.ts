import { describe, expect, it } from 'vitest'
import { fromLocalInput, toLocalInput, toLogQuery } from './log-filters.ts'

const now = new Date('2026-11-21T12:00:00Z')

describe('the address of the log as a query', () => {
  it('names what the API knows, and leaves out what is the page’s own', () => {
    const values = { workspace: ['all'], status: ['failed'], topic: ['a', 'b'] }
    expect(toLogQuery(values, now)).toEqual({ status: ['failed'], topic: ['a', 'b'] })
  })

  it('a range reaches back from now', () => {
    expect(toLogQuery({ range: ['24h'] }, now)).toEqual({ from: '2026-11-20T12:00:00.000Z' })
  })

  it('a range of one’s own has the ends that are given', () => {
    const from = '2026-11-01T00:00:00.000Z'
    expect(toLogQuery({ range: ['custom'], from: [from] }, now)).toEqual({ from })
    expect(toLogQuery({ to: [from] }, now)).toEqual({ to: from })
  })
})

describe('local times', () => {
  it('come back as they were', () => {
    const at = '2026-11-21T12:34:56.000Z'
    expect(fromLocalInput(toLocalInput(at))).toBe(at)
  })

  it('are empty when they are none', () => {
    expect([toLocalInput('x'), fromLocalInput('')]).toEqual(['', ''])
  })
})
