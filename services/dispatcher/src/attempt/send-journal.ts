import type { DispatcherRow } from '@belfry/db/dispatchers/heartbeat'
import type { Pool } from '@belfry/db/postgres/pool'
import { journalSends, trimJournal } from '@belfry/db/tasks/send-journal'
import { openBatch } from '@belfry/runtime'

/** A claim of a session of this dispatcher. */
type JournaledClaim = {
  readonly session: string
  readonly journaledRun: string | null
  entry: 'none' | 'entering' | 'written' | 'refused' | 'undone'
  onJournaled(isWritten: boolean): void
}

const batchSize = 512

/** Opens the send journal. A prefetched claim is sent only after its run is entered here. */
export function openSendJournal(pool: Pool, dispatcher: DispatcherRow, onError: (error: unknown) => void) {
  const open = new Map<string, { seq: number; session: string }>() // the entry of each run, in order
  let seq = 0
  let trimmedTo = 0

  async function write(claims: JournaledClaim[]): Promise<boolean[]> {
    const { id: dispatcherId, session } = dispatcher
    const current = claims.filter(claim => claim.session === session)
    const runIds = current.flatMap(({ journaledRun }) => journaledRun ?? [])
    seq++
    const isWritten = runIds.length > 0 && (await journalSends(pool, { dispatcherId, session, seq, runIds }))
    // A claim may have been undone meanwhile, and nothing would close its entry.
    for (const { journaledRun, entry } of current)
      if (isWritten && journaledRun && entry === 'entering') open.set(journaledRun, { seq, session })
    return claims.map(claim => isWritten && claim.session === session)
  }

  const entries = openBatch<JournaledClaim, boolean>({
    maxSize: batchSize,
    maxInFlight: 1,
    run: write,
    split: () => false,
    settle: (claim, isWritten) => claim.onJournaled(isWritten),
    fail(claim, error) {
      onError(error)
      claim.onJournaled(false)
    },
  })
  return {
    /**
     * Enters a claim once, if it needs an entry, and tells it whether it may be sent. It may not when a scheduler has ended the
     * dispatcher meanwhile, or the database did not answer.
     */
    enter(claim: JournaledClaim): void {
      if (claim.entry !== 'none' || claim.journaledRun === null) return
      claim.entry = 'entering'
      entries.push(claim)
    },
    /** Marks the entry of a run as not needed any more: its attempt is over. */
    close: (runId: string): unknown => open.delete(runId),
    /** Returns the runs whose entries are still needed. */
    open: (): Iterable<string> => open.keys(),
    /** Deletes the entries that are not needed any more. */
    async trim(): Promise<void> {
      const [oldest = { seq, session: dispatcher.session }] = open.values()
      // The runs of earlier sessions share one entry, before all others.
      const from = oldest.session === dispatcher.session ? oldest.seq : 0
      if (from <= trimmedTo) return
      await trimJournal(pool, dispatcher.id, from)
      trimmedTo = from
    },
  }
}
