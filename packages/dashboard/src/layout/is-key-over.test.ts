import { expect, it } from 'vitest'
import { isKeyOver } from './is-key-over.ts'

it.each([
  [null, null, false],
  [null, '2999-01-01T00:00:00Z', false],
  [null, '2026-01-01T00:00:00Z', true],
  ['2026-01-01T00:00:00Z', null, true],
])('a key that was revoked at %j and expires at %j is over: %j', (revoked_at, expires_at, isOver) => {
  expect(isKeyOver({ revoked_at, expires_at })).toBe(isOver)
})
