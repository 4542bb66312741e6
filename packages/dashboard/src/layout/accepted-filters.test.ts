import { listRunsQuery } from '@belfry/contract/run'
import { listTasksQuery } from '@belfry/contract/task'
import { expect, it } from 'vitest'
import { acceptedFilters } from './accepted-filters.ts'

const id = '01kajvz3e9fkwvx3tb1h2c4d5e'
const words = [
  'task',
  'cron',
  'event',
  'callback',
  'pending',
  'retrying',
  'dead',
  'cancelled',
  'success',
  'failed',
  'bogus',
]
const ids = [`task_${id}`, `cron_${id}`, `task_${id.replace('v', 'l')}`, `task_${id}5`]
const values = [
  ...words,
  ...ids,
  '',
  'customer:42',
  '-x',
  'a,b',
  '404',
  '5XX',
  '04',
  '2026-11-21T02:20:00Z',
  '2026-11-21',
]

const queries = { runs: listRunsQuery, tasks: listTasksQuery }
const names = [
  'state',
  'source',
  'not_source',
  'status',
  'response_status',
  'label',
  'late_ms',
  'task_id',
  'cronjob_id',
  'callback_of',
]
const cases = Object.entries(queries).flatMap(([list, { shape }]) =>
  [...names, 'from', 'to'].filter(name => name in shape).map(name => ({ list, name })),
)

it.each(cases)('the filter $name of $list accepts what the API accepts', ({ list, name }) => {
  const query = queries[list as keyof typeof queries]
  const accepted = values.filter(value => query.safeParse({ [name]: value }).success)
  expect(accepted.length).toBeGreaterThan(0)
  expect(values.filter(value => acceptedFilters[name as keyof typeof acceptedFilters].test(value))).toEqual(accepted)
})
