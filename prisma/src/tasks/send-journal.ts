import type { Pool } from '../postgres/pool.ts'
import { type InputColumn, inputValues } from '../postgres/statement-input.ts'

/** Prefetched claims that a dispatcher is about to send. `seq` increases with each entry. */
export type JournalEntry = { dispatcherId: string; session: string; seq: number; runIds: readonly string[] }

/**
 * Writes prefetched claims into the send journal. When it returns true, the dispatcher may send them. False means that
 * a scheduler has ended this session and may have undone its claims: the dispatcher must not send anything of this
 * entry.
 *
 * The lock on the dispatcher's row excludes a scheduler that ends the dispatcher at the same time.
 */
export async function journalSends(pool: Pool, { dispatcherId, session, seq, runIds }: JournalEntry): Promise<boolean> {
  const text = `
    INSERT INTO sends (dispatcher_id, seq, run_ids)
    SELECT id, $3, $4::uuid[] FROM dispatchers WHERE id = $1 AND session = $2 FOR KEY SHARE`
  const values = [dispatcherId, session, seq, ...inputValues(journalInput, runIds)]
  const { rowCount } = await pool.query({ name: 'journal_sends', text, values })
  return rowCount === 1
}

const journalInput: ReadonlyArray<InputColumn<string>> = [['run_id', 'uuid', runId => runId]]

/** Removes the entries of a dispatcher before `seq`, whose attempts are all recorded. */
export async function trimJournal(pool: Pool, dispatcherId: string, seq: number): Promise<void> {
  const text = 'DELETE FROM sends WHERE dispatcher_id = $1 AND seq < $2'
  await pool.query({ name: 'trim_journal', text, values: [dispatcherId, seq] })
}

/** SQL: the claim of the task `t` is prefetched, unsent, and not held since a restore. */
export const isUnsent = `(t.prefetched AND t.waits_for = 0 AND NOT EXISTS (
    SELECT FROM sends s WHERE s.dispatcher_id = t.dispatcher_id AND t.run_id = ANY (s.run_ids)
  ))`
