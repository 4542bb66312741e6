import { expect, it } from 'vitest'
import { expectViolation, mutations } from './mutations.ts'
import { sentences } from './promise.ts'
import { explore } from './reached.ts'
import { floor, hangingCommits, oneFault, operations } from './scopes.ts'
import { testStatements } from './test-statements.ts'

// A part of model.long.ts and mutations.long.ts.
it('keeps the promise in each of 5,037 states with at most one fault, and can end from each', () => {
  expect(explore(oneFault)).toEqual({ states: 5_037, violation: null, trace: [] })
})

it('keeps the promise in each of 598 states with operations in the background, and can end from each', () => {
  expect(explore(operations)).toEqual({ states: 598, violation: null, trace: [] })
})

it('keeps the promise in each of 299 states with a floor of the searches, and can end from each', () => {
  expect(explore(floor)).toEqual({ states: 299, violation: null, trace: [] })
})

it('keeps the promise in each of 5,589 states with at most one commit that hangs, and can end from each', () => {
  expect(explore(hangingCommits)).toEqual({ states: 5_589, violation: null, trace: [] })
})

it('each sentence of the promise has a mutation that breaks it', () => {
  expect(sentences.filter(sentence => !mutations.some(({ violation }) => violation === sentence))).toEqual([])
})

const shortest = mutations.filter(({ trace }) => trace.length <= 3)

it.each(shortest)('finds the shortest way to a broken promise when $name', expectViolation)

testStatements([oneFault, floor])
