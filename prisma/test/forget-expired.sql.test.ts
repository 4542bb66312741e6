import { expect, it } from 'vitest'
import { forgetExpired } from '../src/retention/forget-expired.ts'
import { aWorkspace, useDatabase } from './setup.ts'

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

it('deletes expired hashes of tokens and keys of jobs, and keeps the keys that users created', async () => {
  const workspaceId = await aWorkspace(db.pool)
  await db.pool.query(
    `INSERT INTO exchanged_tokens (hash, expires_at)
     SELECT int4send(i), now() + CASE WHEN i = 1 THEN interval '-1 second' ELSE interval '1 minute' END
     FROM generate_series(1, 2) i`,
  )
  const addKeys = (count: number, credential: boolean, ends: string) =>
    db.pool.query(
      `INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_by, federated_credential_id, expires_at)
       SELECT gen_random_uuid(), $1, 'CI', 'bf_', uuid_send(gen_random_uuid()), gen_random_uuid(),
              CASE WHEN $2 THEN gen_random_uuid() END, now() + $3::interval FROM generate_series(1, $4::int)`,
      [workspaceId, credential, ends, count],
    )
  await addKeys(1001, true, '-1 second')
  await addKeys(2, true, '1 minute')
  await addKeys(3, false, '-1 second')
  expect([await forgetExpired(db.pool), await forgetExpired(db.pool), await forgetExpired(db.pool)]).toEqual([
    1001, 1, 0,
  ])
  const { rows } = await db.pool.query('SELECT count(*)::int AS n FROM api_keys')
  expect([rows[0].n, (await db.pool.query('SELECT FROM exchanged_tokens')).rowCount]).toEqual([5, 1])
})

it.each(['replay', 'cancel'])('an operation is kept for 30 days after its end: %s', async action => {
  const workspaceId = await aWorkspace(db.pool)
  for (const ended of ['30 days', '29 days 23 hours', null])
    await db.pool.query(
      `INSERT INTO bulk_operations (id, workspace_id, action, filter, total, created_at, finished_at)
       VALUES (gen_random_uuid(), $1, $2, '{}', 1, now() - interval '60 days', now() - $3::interval)`,
      [workspaceId, action, ended],
    )
  expect([await forgetExpired(db.pool), await forgetExpired(db.pool)]).toEqual([1, 0])
})
