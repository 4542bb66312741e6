import type { DispatcherRow } from '@belfry/db/dispatchers/heartbeat'
import type { Pool } from '@belfry/db/postgres/pool'
import { journalSends, trimJournal } from '@belfry/db/tasks/send-journal'
import { microBatch } from '@belfry/runtime'

/** The send journal. A prefetched claim is sent only after its run is entered here. */
export type SendJournal = {
  /**
   * Enters a claim that was prefetched in a session of this dispatcher. Returns whether it may be sent. It may not when a
   * scheduler has ended the dispatcher meanwhile, or the database did not answer.
   */
  enter(runId: string, session: string): Promise<boolean>
  /** Marks the entry of a run as not needed any more: its attempt is over. */
  close(runId: string): void
  /** Returns the runs whose entries are still needed. */
  open(): Iterable<string>
  /** Deletes the entries that are not needed any more. */
  trim(): Promise<void>
}

type Entry = { runId: string; session: string }

const batchSize = 512

export function openSendJournal(pool: Pool, dispatcher: DispatcherRow, onError: (error: unknown) => void): SendJournal {
  const open = new Map<string, { seq: number; session: string }>() // the entry of each run, in order
  let seq = 0
  let trimmedTo = 0

  async function write(entries: Entry[]): Promise<boolean[]> {
    const { id: dispatcherId, session } = dispatcher
    const current = entries.filter(entry => entry.session === session)
    const runIds = current.map(({ runId }) => runId)
    seq++
    const isWritten = runIds.length > 0 && (await journalSends(pool, { dispatcherId, session, seq, runIds }))
    if (isWritten) for (const runId of runIds) open.set(runId, { seq, session })
    return entries.map(entry => isWritten && entry.session === session)
  }

  const enter = microBatch<Entry, boolean>({ maxSize: batchSize, maxInFlight: 1, run: write, split: () => false })
  return {
    async enter(runId, session) {
      try {
        return await enter({ runId, session })
      } catch (error) {
        onError(error)
        return false
      }
    },
    close: runId => open.delete(runId),
    open: () => open.keys(),
    async trim() {
      const [oldest = { seq, session: dispatcher.session }] = open.values()
      // The runs of earlier sessions share one entry, before all others.
      const from = oldest.session === dispatcher.session ? oldest.seq : 0
      if (from <= trimmedTo) return
      await trimJournal(pool, dispatcher.id, from)
      trimmedTo = from
    },
  }
}
