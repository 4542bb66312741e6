import { maxCounted, type Pool } from '@belfry/db'
import type { BoardQueues } from '@belfry/queue/board'
import { DatabaseQueue } from './database-queue.ts'

const shown = maxCounted.toLocaleString('en')

/** The tasks of all workspaces as queues, for a board without a Redis. */
export function databaseBoard(pool: Pool): Omit<BoardQueues, 'close'> {
  const waitingWork = new DatabaseQueue(pool, 'waiting-work', ['active', 'waiting', 'delayed'], {
    readOnlyMode: true,
    displayName: 'Waiting work',
    description: `Tasks in flight, due and due later: the next ${shown} of each.`,
  })
  const deadLetters = new DatabaseQueue(pool, 'dead-letter', ['failed'], {
    displayName: 'Dead letters',
    description: `Tasks that could not be delivered, up to ${shown}. Retry replays one as a new task; clean discards it.`,
  })
  return { adapters: [waitingWork, deadLetters], deadLetters }
}
