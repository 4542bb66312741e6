import { randomUUID } from 'node:crypto'
import { parseMasterKeys } from '@belfry/vault'
import { expect, it } from 'vitest'
import { findStuckWork } from '../src/dispatchers/find-stuck-work.ts'
import {
  addToOutbox,
  finishOutboxMessage,
  postponeOutboxMessage,
  pruneOutbox,
  readOutboxOutcome,
  takeFromOutbox,
} from '../src/outbox/outbox.ts'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { countWrappedKeys, findMasterKeyProblem, rewrapDataKeys } from '../src/secrets/data-keys.ts'
import { useDatabase } from './setup.ts'
import { aMasterKey, someMasterKeys } from './setup-secrets.ts'

const db = useDatabase()
const masterKeys = someMasterKeys()

async function store(keys = masterKeys) {
  const id = randomUUID()
  const message = { id, kind: 'mail' as const, label: 'a test', content: '{"to":"ada"}', masterKeys: keys }
  await inTransaction(db.pool, tx => addToOutbox(tx, message))
  return id
}
const take = async () => (await takeFromOutbox(db.pool, 'mail', 60_000)) ?? { id: '', attempt: 0, open: () => '' }
const makeDue = (id: string) => db.pool.query(`UPDATE outbox SET due_at = now() - interval '1 ms' WHERE id = $1`, [id])

it('exists only when its transaction commits', async () => {
  const id = randomUUID()
  const failing = inTransaction(db.pool, async tx => {
    await addToOutbox(tx, { id, kind: 'mail', label: '', content: '{}', masterKeys: null })
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect(await take()).toMatchObject({ id: '' })
})

it('ignores the failure of a lost attempt, but accepts that it was sent', async () => {
  const id = await store()
  const lost = await take()
  await makeDue(id)
  const second = await take()
  expect([lost.attempt, second.attempt]).toEqual([1, 2])
  expect(await postponeOutboxMessage(db.pool, lost, 1_000, 'late')).toBe(false)
  await finishOutboxMessage(db.pool, lost, 'refused')
  expect(await readOutboxOutcome(db.pool, id)).toBeNull()
  await finishOutboxMessage(db.pool, lost, null)
  await finishOutboxMessage(db.pool, second, 'refused')
  expect(await readOutboxOutcome(db.pool, id)).toEqual({ sent: true, error: null })
})

it('is postponed only when it does not expire before the next attempt', async () => {
  const id = await store()
  const taken = await take()
  expect(await postponeOutboxMessage(db.pool, taken, 1_000, 'not now')).toBe(true)
  expect(await postponeOutboxMessage(db.pool, taken, 4 * 24 * 3_600_000, 'never')).toBe(false)
  expect(await readOutboxOutcome(db.pool, id)).toEqual({ sent: false, error: 'never' })
  await pruneOutbox(db.pool, 3_600_000)
  expect(await readOutboxOutcome(db.pool, id)).not.toBeNull()
  await pruneOutbox(db.pool, 0)
  expect(await readOutboxOutcome(db.pool, id)).toBeNull()
})

it('is stuck work when it is a mail that was given up, not when it is a webhook, which is a matter of its owner', async () => {
  const { lostMails } = await findStuckWork(db.pool)
  for (const [kind, error] of [
    ['mail', 'refused'],
    ['webhook', 'gone'],
  ] as const) {
    const id = randomUUID()
    await inTransaction(db.pool, tx => addToOutbox(tx, { id, kind, label: '', content: '{}', masterKeys: null }))
    await finishOutboxMessage(db.pool, { id, attempt: 0 }, error)
  }
  expect(await findStuckWork(db.pool)).toMatchObject({ lostMails: lostMails + 1, lastMailError: 'refused' })
})

it('needs its old master key until it is rewrapped or sent', async () => {
  const [oldKey, newKey] = [aMasterKey('old'), aMasterKey('new')]
  const [old, both, fresh] = [oldKey, `${newKey},${oldKey}`, newKey].map(parseMasterKeys)
  const [first] = [await store(old), await store(old)]
  expect((await countWrappedKeys(db.pool)).get('old')).toBe(2)
  expect(await findMasterKeyProblem(db.pool, fresh!)).toContain('no master key old')
  const taken = await take()
  expect(taken.id).toBe(first)
  await finishOutboxMessage(db.pool, taken, null)
  expect(await rewrapDataKeys(db.pool, both!)).toBe(1)
  expect(await findMasterKeyProblem(db.pool, fresh!)).toBeNull()
  const again = await take()
  expect(again.open(fresh!)).toBe('{"to":"ada"}')
  await finishOutboxMessage(db.pool, again, null)
  expect((await countWrappedKeys(db.pool)).size).toBe(0)
})
