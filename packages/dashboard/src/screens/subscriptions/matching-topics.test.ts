import { expect, it } from 'vitest'
import { matchingTopics } from './matching-topics.ts'

it.each([
  ['orders.*', ['orders.paid', 'orders.eu.paid']],
  ['orders', ['orders']],
  ['*', ['orders', 'orders.paid', 'orders.eu.paid', 'users.new']],
  ['invoices.*', []],
])('of recent topics %s matches %j', (pattern, matching) => {
  expect(matchingTopics(pattern, ['orders', 'orders.paid', 'orders.eu.paid', 'users.new'])).toEqual(matching)
})
