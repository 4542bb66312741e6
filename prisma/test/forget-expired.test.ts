import { expect, it } from 'vitest'
import { forgetExpired } from '../src/index.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

it('deletes more expired challenges than one batch, and keeps open ones', async () => {
  await db.pool.query(
    `INSERT INTO challenges (hash, purpose, expires_at)
     SELECT int4send(i), 'passkey', now() + CASE WHEN i <= 1001 THEN interval '-1 second' ELSE interval '1 minute' END
     FROM generate_series(1, 1003) i`,
  )
  expect([await forgetExpired(db.pool), await forgetExpired(db.pool), await forgetExpired(db.pool)]).toEqual([
    1000, 1, 0,
  ])
  expect((await db.pool.query('SELECT count(*)::int AS open FROM challenges')).rows).toEqual([{ open: 2 }])
})
