import type { Pool } from '../postgres/pool.ts'

/** Prefetched claims of a dispatcher that are about to be sent. `seq` counts up with each entry. */
export type JournalEntry = { dispatcherId: string; session: string; seq: number; runIds: readonly string[] }

/**
 * Writes prefetched claims into the send journal. Each may be sent once this has returned true. False: the dispatcher was
 * thought dead since `session` began, and its claims may have been undone; nothing of this entry may be sent.
 *
 * The lock on the dispatcher's row excludes a scheduler that ends the dispatcher at the same time.
 */
export async function journalSends(pool: Pool, { dispatcherId, session, seq, runIds }: JournalEntry): Promise<boolean> {
  const text = `
    INSERT INTO sends (dispatcher_id, seq, run_ids)
    SELECT id, $3, $4::uuid[] FROM dispatchers WHERE id = $1 AND session = $2 FOR KEY SHARE`
  const { rowCount } = await pool.query({ name: 'journal_sends', text, values: [dispatcherId, session, seq, runIds] })
  return rowCount === 1
}

/** Removes the entries of a dispatcher before `seq`: all their attempts are recorded. */
export async function trimJournal(pool: Pool, dispatcherId: string, seq: number): Promise<void> {
  const text = 'DELETE FROM sends WHERE dispatcher_id = $1 AND seq < $2'
  await pool.query({ name: 'trim_journal', text, values: [dispatcherId, seq] })
}

/** Whether the claim of a task was prefetched and has not been sent, as a condition on its row. */
export function isUnsent(alias: string): string {
  return `(${alias}.prefetched AND NOT EXISTS (
    SELECT FROM sends s WHERE s.dispatcher_id = ${alias}.dispatcher_id AND ${alias}.run_id = ANY (s.run_ids)
  ))`
}
