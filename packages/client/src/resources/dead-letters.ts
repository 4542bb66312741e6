import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import { pause } from '../time-limit.ts'
import type {
  DeadLetterChoice,
  DeadLetterOperation,
  DiscardedDeadLetters,
  Id,
  ListDeadLetters,
  ReplayedDeadLetters,
  Task,
} from '../types.ts'

const root = '/api/v1/scheduler/dead-letters'

/** Tasks that could not be delivered, until somebody replays or discards them. */
export type DeadLetters = ReturnType<typeof deadLettersOf>

export function deadLettersOf(http: Http) {
  const settle = <T>(verb: string, choice: DeadLetterChoice, options?: RequestOptions): Promise<T> =>
    http.json({ method: 'POST', path: `${root}/${verb}`, body: toBody(choice), options })

  const operation = (id: Id, options?: RequestOptions): Promise<DeadLetterOperation> =>
    http.json({ method: 'GET', path: path`/api/v1/scheduler/dead-letters/operations/${id}`, options })

  return {
    /** Newest first. */
    list: (filters: ListDeadLetters = {}, options?: RequestOptions): List<Task> => list(http, root, filters, options),

    /** Makes a new task of each, due at once. What is settled already, and what is no dead letter, is left out. */
    replay: (choice: DeadLetterChoice, options?: RequestOptions): Promise<ReplayedDeadLetters> =>
      settle('replay', choice, options),

    /** Takes them off the list, and does nothing else. */
    discard: (choice: DeadLetterChoice, options?: RequestOptions): Promise<DiscardedDeadLetters> =>
      settle('discard', choice, options),

    /** How far a replay or a discard in the background has come. */
    operation,

    /** The same again and again until it has ended: each state that differs from the one before. */
    async *progress(
      id: Id,
      {
        intervalMs = 1_000,
        ...options
      }: RequestOptions & { /** Between two looks. Default 1,000. */ intervalMs?: number } = {},
    ): AsyncGenerator<DeadLetterOperation> {
      for (let settled = -1; ; ) {
        const now = await operation(id, options)
        if (now.settled !== settled || now.status !== 'running') yield now
        if (now.status !== 'running') return
        settled = now.settled
        await pause(intervalMs, options.signal)
      }
    },

    /** Stops it. What it has settled stays settled; throws `ConflictError` once it has ended. */
    cancelOperation: (id: Id, options?: RequestOptions): Promise<DeadLetterOperation> =>
      http.json({ method: 'DELETE', path: path`/api/v1/scheduler/dead-letters/operations/${id}`, options }),
  }
}
