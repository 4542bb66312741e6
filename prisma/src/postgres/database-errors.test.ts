import { expect, it } from 'vitest'
import { isTransientDatabaseError } from './database-errors.ts'

it.each([
  ['08006', 'a broken connection'],
  ['25006', 'a server that takes no writes for now'],
  ['40001', 'a serialization failure'],
  ['40P01', 'a deadlock'],
  ['53100', 'a full disk'],
  ['55P03', 'a lock that somebody holds'],
  ['57P01', 'a shutdown'],
  ['57P03', 'a start'],
  ['ECONNREFUSED', 'nobody there'],
  ['EMFILE', 'no descriptor left for a socket'],
])('%s, %s, passes', code => {
  expect(isTransientDatabaseError(Object.assign(new Error(), { code }))).toBe(true)
})

it.each([
  ['23505', 'a unique violation'],
  ['22021', 'a text that cannot be stored'],
  ['25001', 'another state of the transaction'],
  ['42P01', 'a missing table'],
])('%s, %s, does not pass', code => {
  expect(isTransientDatabaseError(Object.assign(new Error(), { code }))).toBe(false)
})
