import { expect, it } from 'vitest'
import { matchingFilter, toTaskQuery } from './tasks.tsx'

const now = new Date('2026-11-28T10:00:00Z')
const rangeOf = (values: object) => toTaskQuery(values, now, 'UTC')

it('a preset range of tasks ends now, a day or a custom range where it says', () => {
  expect(rangeOf({ range: ['1h'] })).toEqual({ from: '2026-11-28T09:00:00.000Z', to: now.toISOString() })
  expect(rangeOf({ range: ['today'] })).toMatchObject({ to: '2026-11-29T00:00:00.000Z' })
  expect(rangeOf({ range: ['custom'], from: ['2026-11-28T00:00:00Z'] })).toEqual({ from: '2026-11-28T00:00:00Z' })
  expect(rangeOf({ state: ['dead'], occurrences: ['upcoming'] })).toEqual({ state: ['dead'] })
})

it('all matching tasks are acted on only while a filter has an effect', () => {
  for (const values of [{ range: ['custom'] }, { occurrences: ['upcoming'] }, {}]) {
    expect(matchingFilter(rangeOf(values), true)).toBeNull()
  }
  expect(matchingFilter(rangeOf({ state: ['pending'], name: ['Remind'] }), true)).toEqual({
    name: 'Remind',
    upcoming: 'false',
  })
  expect(matchingFilter(rangeOf({ queue: ['mail'] }), false)).toEqual({ queue: ['mail'] })
})
