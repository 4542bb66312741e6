import { expect, it } from 'vitest'
import { readSearch } from './read-search.ts'

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
  expect(readSearch(text)).toEqual(meaning)
})
