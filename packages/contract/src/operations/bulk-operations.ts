import {
  bulkOperation,
  deadLetterOperation,
  discardedDeadLetters,
  replayDeadLettersBody,
  replayedDeadLetters,
  settleDeadLettersBody,
  startBulkOperationBody,
} from '../bulk-operation.ts'
import { operation } from '../operation.ts'
import { listQuery, pageOf } from '../page.ts'
import { listDeadLettersQuery, task } from '../task.ts'

export const bulkOperations = {
  listDeadLetters: operation('GET', '/api/v1/scheduler/dead-letters', {
    right: 'dead_letter.read',
    summary: 'List tasks that could not be delivered, until they are replayed or discarded',
    client: 'deadLetters.list',
    mayLag: true,
    query: listDeadLettersQuery,
    answer: { status: 200, body: pageOf(task) },
  }),

  replayDeadLetters: operation('POST', '/api/v1/scheduler/dead-letters/replay', {
    right: 'dead_letter.replay',
    summary: 'Replay dead letters: each as a new task that is due at once, or so many per second',
    description: 'Skips tasks that are not dead letters any more.',
    client: 'deadLetters.replay',
    body: replayDeadLettersBody,
    answer: { status: 200, orStatus: 202, body: replayedDeadLetters },
    refusals: ['conflict'],
  }),

  discardDeadLetters: operation('POST', '/api/v1/scheduler/dead-letters/discard', {
    right: 'dead_letter.discard',
    summary: 'Discard dead letters; the tasks stay dead',
    client: 'deadLetters.discard',
    body: settleDeadLettersBody,
    answer: { status: 200, orStatus: 202, body: discardedDeadLetters },
    refusals: ['conflict'],
  }),

  getDeadLetterOperation: operation('GET', '/api/v1/scheduler/dead-letters/operations/:operation', {
    right: 'dead_letter.read',
    summary: 'Get the progress of a replay or a discard in the background',
    client: 'deadLetters.operation',
    answer: { status: 200, body: deadLetterOperation },
  }),

  cancelDeadLetterOperation: operation('DELETE', '/api/v1/scheduler/dead-letters/operations/:operation', {
    right: 'dead_letter.replay',
    summary: 'Cancel a replay or a discard in the background; what it has done stays done',
    client: 'deadLetters.cancelOperation',
    answer: { status: 200, body: deadLetterOperation },
    refusals: ['conflict'],
  }),

  listBulkOperations: operation('GET', '/api/v1/scheduler/bulk-operations', {
    right: 'task.read',
    orRights: ['dead_letter.read'],
    summary: 'List bulk operations, newest first; they are kept for 30 days after their end',
    client: 'bulkOperations.list',
    query: listQuery,
    answer: { status: 200, body: pageOf(bulkOperation) },
  }),

  startBulkOperation: operation('POST', '/api/v1/scheduler/bulk-operations', {
    right: 'task.delete',
    orRights: ['dead_letter.replay', 'dead_letter.discard'],
    summary: 'Cancel, stop, replay or discard many tasks in the background',
    description: 'A different running operation causes a conflict.',
    client: 'bulkOperations.start',
    body: startBulkOperationBody,
    answer: { status: 202, body: bulkOperation },
    refusals: ['conflict'],
  }),

  getBulkOperation: operation('GET', '/api/v1/scheduler/bulk-operations/:operation', {
    right: 'task.read',
    orRights: ['dead_letter.read'],
    summary: 'Get the progress of a bulk operation',
    client: 'bulkOperations.get',
    answer: { status: 200, body: bulkOperation },
  }),

  cancelOperation: operation('POST', '/api/v1/scheduler/bulk-operations/:operation/cancel', {
    right: 'task.delete',
    orRights: ['dead_letter.replay'],
    summary: 'Cancel a bulk operation; what it has done stays done',
    client: 'bulkOperations.cancel',
    answer: { status: 200, body: bulkOperation },
    refusals: ['conflict'],
  }),
}
