import type { Found } from '@belfry/contract/overview'
import { describe, expect, it } from 'vitest'
import { parseSearch, toDeadLetterQuery, toLogQuery } from './log-filters.ts'

const now = new Date('2026-11-21T12:00:00Z')

const aFound = (kind: Found['kind'], name: string): Found => ({ kind, name, id: `${kind}_1`, count: 1, at: null })

describe('the filters of the log as a query', () => {
  it('leave out the filters that only the page knows', () => {
    const values = { workspace: ['all'], status: ['failed'], topic: ['a', 'b'] }
    expect(toLogQuery(values, now, 'UTC')).toEqual({ status: ['failed'], topic: ['a', 'b'] })
  })

  it('start a preset range its length before now', () => {
    expect(toLogQuery({ range: ['24h'] }, now, 'UTC')).toEqual({ from: '2026-11-20T12:00:00.000Z' })
  })

  it.each([
    ['today', 'UTC', '2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'],
    ['yesterday', 'Europe/Berlin', '2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z'],
    ['night', 'Europe/Berlin', '2026-11-21T01:00:00.000Z', '2026-11-21T03:00:00.000Z'],
    ['night', 'America/Los_Angeles', '2026-11-21T10:00:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['night', 'Pacific/Pago_Pago', '2026-11-20T13:00:00.000Z', '2026-11-20T15:00:00.000Z'],
  ])('%s in %s is a range of the calendar', (range, zone, from, to) => {
    expect(toLogQuery({ range: [range] }, now, zone)).toEqual({ from, to })
  })

  it('use the given ends of a custom range', () => {
    const from = '2026-11-01T00:00:00.000Z'
    expect(toLogQuery({ range: ['custom'], from: [from] }, now, 'UTC')).toEqual({ from })
    expect(toLogQuery({ to: [from] }, now, 'UTC')).toEqual({ to: from })
  })
})

const of26 = 'a'.repeat(26)
const found = [
  aFound('task', 'Charge subscription'),
  aFound('task', 'orders.paid'),
  aFound('topic', 'orders.paid'),
  aFound('cron_job', 'Nightly'),
  aFound('host', '127.0.0.1:3750'),
  aFound('label', 'order:4711'),
  aFound('queue', 'order'),
]

it.each([
  ['', null],
  [`run_${of26}`, { kind: 'run', id: `run_${of26}` }],
  [` task_${of26} `, { kind: 'filter', name: 'task_id', value: `task_${of26}` }],
  [`cron_${of26}`, { kind: 'filter', name: 'cronjob_id', value: `cron_${of26}` }],
  ['5XX', { kind: 'filter', name: 'response_status', value: '5xx' }],
  ['404', { kind: 'filter', name: 'response_status', value: '404' }],
  ['Failed', { kind: 'filter', name: 'status', value: 'failed' }],
  ['orders.paid', { kind: 'filter', name: 'topic', value: 'orders.paid' }],
  ['charge subscription', { kind: 'filter', name: 'name', value: 'Charge subscription' }],
  ['Charge', { kind: 'filter', name: 'name', value: 'Charge' }],
  ['nightly', { kind: 'filter', name: 'cronjob_id', value: 'cron_job_1' }],
  ['order:4711', { kind: 'filter', name: 'label', value: 'order:4711' }],
  ['Connection reset', { kind: 'filter', name: 'error', value: 'connection_reset' }],
  ['127.0.0.1:3750', { kind: 'filter', name: 'host', value: '127.0.0.1:3750' }],
])('%j in the search', (text, meaning) => {
  expect(parseSearch(text, found)).toEqual(meaning)
})

it('a search for what was not found filters by name', () => {
  expect(parseSearch('task_1', [])).toEqual({ kind: 'filter', name: 'name', value: 'task_1' })
  expect(parseSearch('constructor', [])).toEqual({ kind: 'filter', name: 'name', value: 'constructor' })
})

it.each([
  [{}, null],
  [{ status: ['success', 'failed'], host: ['a'] }, null],
  [{ status: ['failed'], range: ['1h'] }, ''],
  [{ status: ['failed'], response_status: ['500', '4xx'] }, '?response_status=500&response_status=4xx'],
  [{ status: ['failed'], label: ['order:1'] }, '?label=order%3A1'],
  [{ status: ['failed'], label: ['a', 'b'] }, null],
  [{ status: ['failed'], late_ms: ['1000'] }, null],
  [{ status: ['failed'], workspace: ['all'] }, null],
  [{ status: ['failed'], not_host: ['a:1'] }, null],
  [{ status: ['failed'], topic: ['a', 'b'] }, null],
  [{ error: ['timeout', 'dns'], host: ['a:1'], from: ['2026-11-21T12:00:00Z'] }, '?error=timeout&error=dns&host=a%3A1'],
  [
    { error: ['http_status'], response_status: ['500'], name: ['A b'] },
    '?error=http_status&response_status=500&name=A+b',
  ],
])('the log %j leads to the dead letters %j', (values, query) => {
  expect(toDeadLetterQuery(values)).toBe(query)
})
