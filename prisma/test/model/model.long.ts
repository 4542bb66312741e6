import { expect, it } from 'vitest'
import { explore } from './reached.ts'
import {
  backupAndRestore,
  deadlines,
  floorAndOneFault,
  hangingAndOneFault,
  operationsAndOneFault,
  pausesThatEnd,
  type Question,
  restoredDeadline,
  restoredFault,
  restoredFloor,
  restoredReplays,
  twoFaults,
  usersAndOneFault,
} from './scopes.ts'
import { testStatements } from './test-statements.ts'

// A busy machine needs ten times as long as an idle one.
const timeout = 600_000

// The exact number of states, so a change of the model is noticed. Far fewer than before would mean that a rule forbids
// steps which the product allows, and then the search proves less. With no fault and no user each task has more than ten states
// and the two are independent: 190 in all, after A and B are taken as one. Each fault multiplies them by the states of the
// process that it hits, times the moments at which it can happen: by more than 20 each.
const searches: Array<{ name: string; question: Question; states: number }> = [
  { name: 'any two faults', question: twoFaults, states: 172_438 },
  { name: 'all that users do, with any one fault', question: usersAndOneFault, states: 93_208 },
  { name: 'a backup and a restore at any moment', question: backupAndRestore, states: 28_927 },
  { name: 'a deadline that passes before or after a restore', question: restoredDeadline, states: 29_397 },
  { name: 'a backup and a restore, with any one fault', question: restoredFault, states: 522_242 },
  { name: 'a deadline that passes at any moment', question: deadlines, states: 104_687 },
  { name: 'operations in the background, with any one fault', question: operationsAndOneFault, states: 123_900 },
  { name: 'replays in the background that are restored', question: restoredReplays, states: 36_653 },
  { name: 'a floor of the searches, with any one fault', question: floorAndOneFault, states: 19_992 },
  { name: 'a floor of the searches, and a restore', question: restoredFloor, states: 112_689 },
  { name: 'a commit that hangs, with any further fault', question: hangingAndOneFault, states: 170_750 },
  { name: 'cron jobs that are paused and resumed', question: pausesThatEnd, states: 24_032 },
]

it.each(searches)('keeps the promise in each of $states states, and can end from each: $name', { timeout }, search => {
  expect(explore(search.question)).toEqual({ states: search.states, violation: null, trace: [] })
})

testStatements([
  twoFaults,
  usersAndOneFault,
  backupAndRestore,
  restoredDeadline,
  deadlines,
  floorAndOneFault,
  restoredFloor,
])
