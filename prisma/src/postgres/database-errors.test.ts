import { expect, it } from 'vitest'
import { isTransientDatabaseError } from './database-errors.ts'

it.each([
  ['08006', 'a broken connection'],
  ['25006', 'a server that takes no writes for now'],
  ['40001', 'a serialization failure'],
  ['40P01', 'a deadlock'],
  ['53100', 'a full disk'],
  ['55P03', 'a lock that another transaction holds'],
  ['57P01', 'a shutdown'],
  ['57P03', 'a start'],
  ['ECONNREFUSED', 'no server'],
  ['EMFILE', 'no descriptor left for a socket'],
])('%s, %s, is transient', code => {
  expect(isTransientDatabaseError(Object.assign(new Error(), { code }))).toBe(true)
})

it.each([
  ['23505', 'a unique violation'],
  ['22021', 'a text that cannot be stored'],
  ['25001', 'another state of the transaction'],
  ['42P01', 'a missing table'],
])('%s, %s, is not transient', code => {
  expect(isTransientDatabaseError(Object.assign(new Error(), { code }))).toBe(false)
})
