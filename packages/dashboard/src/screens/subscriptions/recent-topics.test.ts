import type { Task } from '@belfry/contract/task'
import { expect, it } from 'vitest'
import { matchingTopics, topicsOf } from './subscriptions.tsx'

it.each([
  ['orders.*', ['orders.paid', 'orders.eu.paid']],
  ['orders', ['orders']],
  ['*', ['orders', 'orders.paid', 'orders.eu.paid', 'users.new']],
  ['invoices.*', []],
])('%s matches %j', (pattern, matching) => {
  expect(matchingTopics(pattern, ['orders', 'orders.paid', 'orders.eu.paid', 'users.new'])).toEqual(matching)
})

it('returns each topic once, without tasks that have none', () => {
  const tasks = ['a', 'b', null, 'a'].map(topic => ({ topic }) as Task)
  expect(topicsOf(tasks)).toEqual(['a', 'b'])
})
