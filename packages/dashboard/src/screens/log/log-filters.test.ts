import { describe, expect, it } from 'vitest'
import { parseSearch, toLogQuery } from './log-filters.ts'

const now = new Date('2026-11-21T12:00:00Z')

describe('the filters of the log as a query', () => {
  it('leave out the filters that only the page knows', () => {
    const values = { workspace: ['all'], status: ['failed'], topic: ['a', 'b'] }
    expect(toLogQuery(values, now)).toEqual({ status: ['failed'], topic: ['a', 'b'] })
  })

  it('start a preset range its length before now', () => {
    expect(toLogQuery({ range: ['24h'] }, now)).toEqual({ from: '2026-11-20T12:00:00.000Z' })
  })

  it('use the given ends of a custom range', () => {
    const from = '2026-11-01T00:00:00.000Z'
    expect(toLogQuery({ range: ['custom'], from: [from] }, now)).toEqual({ from })
    expect(toLogQuery({ to: [from] }, now)).toEqual({ to: from })
  })
})

const of26 = 'a'.repeat(26)

it.each([
  ['', null],
  [`run_${of26}`, { kind: 'run', id: `run_${of26}` }],
  [` task_${of26} `, { kind: 'filter', name: 'task_id', value: `task_${of26}` }],
  [`cron_${of26}`, { kind: 'filter', name: 'cronjob_id', value: `cron_${of26}` }],
  ['5XX', { kind: 'filter', name: 'response_status', value: '5xx' }],
  ['404', { kind: 'filter', name: 'response_status', value: '404' }],
  ['orders.paid', { kind: 'filter', name: 'topic', value: 'orders.paid' }],
  ['task_1', { kind: 'filter', name: 'topic', value: 'task_1' }],
])('%j in the search', (text, meaning) => {
  expect(parseSearch(text)).toEqual(meaning)
})
