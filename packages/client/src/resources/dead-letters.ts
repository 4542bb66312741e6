import { followOperation } from '../follow-operation.ts'
import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { ProgressOptions, RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import type {
  DeadLetterChoice,
  DeadLetterOperation,
  DiscardedDeadLetters,
  Id,
  ListDeadLetters,
  ReplayChoice,
  ReplayedDeadLetters,
  Task,
} from '../types/index.ts'

const root = '/api/v1/scheduler/dead-letters'

/** Tasks that failed for good, until they are replayed or discarded. */
export type DeadLetters = ReturnType<typeof deadLettersOf>

export function deadLettersOf(http: Http) {
  const settle = <T>(verb: string, choice: DeadLetterChoice, options?: RequestOptions): Promise<T> =>
    http.post(`${root}/${verb}`, toBody(choice), options)

  const operation = (id: Id, options?: RequestOptions): Promise<DeadLetterOperation> =>
    http.get(path`/api/v1/scheduler/dead-letters/operations/${id}`, options)

  return {
    /** Lists dead letters, newest first. */
    list: (filters: ListDeadLetters = {}, options?: RequestOptions): List<Task> => list(http, root, filters, options),

    /** Replays each dead letter as a new task. Skips tasks that are not dead letters any more. */
    replay: (choice: ReplayChoice, options?: RequestOptions): Promise<ReplayedDeadLetters> =>
      settle('replay', choice, options),

    /** Removes dead letters from the list. */
    discard: (choice: DeadLetterChoice, options?: RequestOptions): Promise<DiscardedDeadLetters> =>
      settle('discard', choice, options),

    /** Returns the progress of a replay or discard in the background. */
    operation,

    /** Yields each change of an operation's progress until it has ended. */
    progress: (id: Id, options?: ProgressOptions): AsyncGenerator<DeadLetterOperation> =>
      followOperation(operation, id, 'settled', options),

    /** Stops an operation. Settled dead letters stay settled. Throws `ConflictError` when it has ended. */
    cancelOperation: (id: Id, options?: RequestOptions): Promise<DeadLetterOperation> =>
      http.delete(path`/api/v1/scheduler/dead-letters/operations/${id}`, options),
  }
}
