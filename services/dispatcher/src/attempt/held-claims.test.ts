import { expect, it } from 'vitest'
import { createHeldClaims } from './held-claims.ts'

const token = '0f8fad5b-d9cb-469f-a165-70867728950e'
const runId = '01a206ae-b9c8-769f-a165-70867728950e'

it('finds a claim by its run until it is released', () => {
  const held = createHeldClaims(() => 0)
  held.add(token)
  expect([held.has(runId), held.isAbandoned(runId)]).toEqual([true, false])
  held.release(token)
  expect([held.has(runId), held.isAbandoned(runId)]).toEqual([false, false])
})

it('remembers an abandoned claim for five minutes', () => {
  let now = 0
  const held = createHeldClaims(() => now)
  held.add(token)
  held.abandon(token)
  now = 299_999
  held.abandon('another-0000-0000-000000000000')
  expect([held.has(runId), held.isAbandoned(runId)]).toEqual([false, true])
  now = 300_000
  held.abandon('another-1111-1111-111111111111')
  expect(held.isAbandoned(runId)).toBe(false)
})
