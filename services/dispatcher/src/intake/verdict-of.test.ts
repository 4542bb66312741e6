import { expect, it } from 'vitest'
import { verdictOf } from './verdict-of.ts'

it.each([
  [200, 'well'],
  [302, 'well'],
  [404, 'well'],
  [410, 'well'],
  [429, 'failing'],
  [500, 'failing'],
  [503, 'failing'],
])('with status %i the host is %s', (status, verdict) => {
  expect(verdictOf({ kind: 'response', status })).toBe(verdict)
})

it.each([
  ['timeout', 'failing'],
  ['connection_refused', 'failing'],
  ['connection_reset', 'failing'],
  ['dns', 'failing'],
  ['tls', 'failing'],
  ['invalid_response', 'failing'],
  ['blocked_address', null],
  ['worker_lost', null],
])('with %s the host is %s', (code, verdict) => {
  expect(verdictOf({ kind: 'failure', code })).toBe(verdict)
})

it('says nothing of a host that was not called', () => {
  expect(verdictOf({ kind: 'unsent' })).toBeNull()
})
