import type { Mutation } from './mutations.ts'
import { operations, restoredReplays } from './scopes.ts'

/** Mutations of bulk operations. */
export const operationMutations: Mutation[] = [
  {
    name: 'an operation looks for prefetched tasks at its end only',
    question: operations,
    mutation: { operationsRemember: false },
    violation: 'an operation ends and leaves out a task',
    trace: [
      'plain comes due',
      'A prefetches plain',
      'the user cancels all tasks: 202',
      'the operation comes to plain',
      'A undoes its claim of plain',
      'the operation comes to its end',
    ],
  },
  {
    name: 'an operation takes the tasks whose ids are below its own',
    question: operations,
    mutation: { operationBound: 'id' },
    violation: 'an operation ends a task that was created after its start',
    trace: [
      'the user cancels all tasks: 202',
      'the scheduler makes the occurrence of the cron job',
      'the operation comes to cron',
    ],
  },
  {
    name: 'an operation of an API whose clock is behind takes the tasks whose ids are below its own',
    question: operations,
    mutation: { operationBound: 'id' },
    violation: 'an operation ends and leaves out a task',
    trace: ['the user cancels all tasks: 202', 'the operation comes to its end'],
  },
  {
    name: 'hold-overdue leaves open operations out',
    question: restoredReplays,
    mutation: { holdsOperations: false },
    violation: 'what was sent since the backup is sent again, unheld',
    trace: [
      'plain comes due',
      'A claims plain',
      'A sends plain',
      'A gets a 500 for plain and records it',
      'the user replays all dead letters: 202',
      'the operator takes a backup',
      'the operation comes to plain',
      'A claims plain',
      'the operator stops all processes, restores the backup, runs hold-overdue and starts them again',
      'the operation comes to plain',
      'A claims plain',
      'A sends plain',
    ],
  },
]
