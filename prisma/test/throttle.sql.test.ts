import { expect, it } from 'vitest'
import { forgetExpired } from '../src/retention/forget-expired.ts'
import { consumeAttempt, refundAttempt } from '../src/throttle.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
const throttle = { burst: 5, everyMs: 60_000 }

it('allows a burst and no more, with concurrent callers', async () => {
  const waits = await Promise.all(Array.from({ length: 20 }, () => consumeAttempt(db.pool, 'many', throttle)))
  expect(waits.filter(waitMs => waitMs === 0)).toHaveLength(5)
  for (const waitMs of waits.filter(waitMs => waitMs > 0)) expect(waitMs).toBeLessThanOrEqual(60_000)
})

it('allows a refunded attempt again, and limits each name separately', async () => {
  for (let i = 0; i < 5; i++) await consumeAttempt(db.pool, 'one', throttle)
  expect(await consumeAttempt(db.pool, 'one', throttle)).toBeGreaterThan(50_000)
  expect(await consumeAttempt(db.pool, 'another', throttle)).toBe(0)
  await refundAttempt(db.pool, 'one', throttle)
  expect(await consumeAttempt(db.pool, 'one', throttle)).toBe(0)
})

it('allows one more attempt after each interval, and no new burst', async () => {
  for (let i = 0; i < 5; i++) await consumeAttempt(db.pool, 'later', throttle)
  await db.pool.query(`UPDATE throttles SET free_at = free_at - interval '1 minute' WHERE name = 'later'`)
  expect(await consumeAttempt(db.pool, 'later', throttle)).toBe(0)
  expect(await consumeAttempt(db.pool, 'later', throttle)).toBeGreaterThan(0)
})

it('is deleted when the full burst is available again', async () => {
  await consumeAttempt(db.pool, 'kept', throttle)
  await consumeAttempt(db.pool, 'old', throttle)
  await db.pool.query(`UPDATE throttles SET free_at = now() - interval '1 second' WHERE name = 'old'`)
  while ((await forgetExpired(db.pool)) > 0);
  const { rows } = await db.pool.query(`SELECT name FROM throttles WHERE name IN ('kept', 'old')`)
  expect(rows).toEqual([{ name: 'kept' }])
})
