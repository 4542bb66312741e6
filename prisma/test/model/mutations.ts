import { expect } from 'vitest'
import { claimMutations } from './claim-mutations.ts'
import { endMutations } from './end-mutations.ts'
import { floorMutations } from './floor-mutations.ts'
import { operationMutations } from './operation-mutations.ts'
import type { Sentence } from './promise.ts'
import { restoreMutations } from './restore-mutations.ts'
import type { Rules } from './rules.ts'
import type { Question } from './scopes.ts'
import { search } from './search.ts'
import { sendMutations } from './send-mutations.ts'

/** The shortest way to a sentence of the promise that breaks with the mutation: its broken twin. */
export type Mutation = {
  name: string
  question: Question
  mutation: Partial<Rules>
  violation: Sentence
  trace: string[]
}

/** All mutations, each of which the search must notice. */
export const mutations: Mutation[] = [
  ...claimMutations,
  ...sendMutations,
  ...endMutations,
  ...restoreMutations,
  ...operationMutations,
  ...floorMutations,
]

/** Expects that a search with the mutation finds its violation, on the shortest way. */
export function expectViolation({ question, mutation, violation, trace }: Mutation): void {
  const found = search({ ...question, rules: { ...question.rules, ...mutation } }, violation)
  expect([found.violation, ...found.trace]).toEqual([violation, ...trace])
}
