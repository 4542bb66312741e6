import { randomUUID } from 'node:crypto'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { expect, it } from 'vitest'
import { openSendJournal } from '../src/attempt/send-journal.ts'
import { PendingClaim } from '../src/intake/pending-claim.ts'
import { setupBatches } from './setup-batches.ts'

it('keeps the entries of claims that may be sent: none that was undone meanwhile, or of an earlier session', async () => {
  const { pool } = await setupBatches()
  const dispatcher = await enterDispatchers(pool)
  const journal = openSendJournal(pool, dispatcher, error => console.error(error))
  const sessions = [dispatcher.session, dispatcher.session, dispatcher.session, randomUUID()]
  const claims = sessions.map(prefetched)
  const told = claims.map(tell)
  for (const claim of claims) journal.enter(claim)
  const [kept, undone, closed] = claims
  if (undone) undone.entry = 'undone'
  const [first, ofUndone, ...others] = told
  expect(await Promise.all([first, ...others])).toEqual([true, true, false])
  expect(await Promise.race([ofUndone, 'nothing'])).toBe('nothing')
  journal.close(closed?.journaledRun ?? '')
  expect([...journal.open()]).toEqual([kept?.journaledRun])
  const text = 'SELECT count(*)::int AS entries FROM sends WHERE dispatcher_id = $1'
  expect((await pool.query(text, [dispatcher.id])).rows).toEqual([{ entries: 1 }])
})

function prefetched(session: string): PendingClaim {
  const claim = new PendingClaim({ taskId: randomUUID(), token: randomUUID(), isPrefetch: true }, session)
  const task = { prefetched: true, runId: randomUUID() }
  claim.onAnswer({ kind: 'claimed', receivedAt: performance.now(), task } as Parameters<typeof claim.onAnswer>[0])
  return claim
}

function tell(claim: PendingClaim): Promise<boolean> {
  return new Promise(resolve => claim.tell({ onClaim() {}, onJournaled: (_claim, isWritten) => resolve(isWritten) }))
}
