import type { Mutation } from './mutations.ts'
import { floor, queueAndFloor, restoredFloor } from './scopes.ts'

const violation = 'a waiting task lies below the floor, so no search finds it'

/** Mutations of the floor, below which no search for waiting tasks reads. */
export const floorMutations: Mutation[] = [
  {
    name: 'the undo of a claim does not lower the floor',
    question: floor,
    mutation: { floorIsLoweredBy: 'nothing' },
    violation,
    trace: [
      'plain comes due',
      'A claims plain',
      'plain has been due for more than a minute',
      'the floor of the searches rises above the time of plain',
      'A undoes its claim of plain',
    ],
  },
  {
    name: 'a change of the queue does not lower the floor',
    question: queueAndFloor,
    mutation: { floorIsLoweredBy: 'a change of the state' },
    violation,
    trace: [
      'plain comes due',
      'plain has been due for more than a minute',
      'the user pauses the queue: 200',
      'A claims plain',
      'the floor of the searches rises above the time of plain',
      'the user moves plain to a queue: 200',
    ],
  },
  {
    name: 'the release of a held task does not lower the floor',
    question: restoredFloor,
    mutation: { floorIsLoweredBy: 'a change of the state' },
    violation,
    trace: [
      'the operator takes a backup',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'plain has been due for more than a minute',
      'the floor of the searches rises above the time of plain',
      'the operator runs release-held',
    ],
  },
]
