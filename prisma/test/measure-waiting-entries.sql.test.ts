import { randomUUID } from 'node:crypto'
import { NIL_UUID, newUuid } from '@belfry/domain/id'
import { beforeEach, expect, it } from 'vitest'
import { measureWaitingAuditEntries } from '../src/audit-streams/measure-waiting-entries.ts'
import { openAuditFile, sendAuditEntries } from '../src/audit-streams/take-entries.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()
beforeEach(() => db.pool.query('TRUNCATE audit_stream_entries'))
const none = { waiting: 0, oldestSeconds: 0 }

async function startStream() {
  const organizationId = randomUUID()
  await db.pool.query(
    `INSERT INTO audit_streams (organization_id, shown_target, sealed_target, master_key_id, wrapped_key)
     VALUES ($1, 'logs.example.com', '', 'k1', '')`,
    [organizationId],
  )
  return organizationId
}

const record = (organizationId: string, seconds = 0) =>
  db.pool.query(
    `INSERT INTO audit_log (id, organization_id, action, address, object_id, created_at)
     VALUES ($1, $2, 'organization.changed', '192.0.2.7', 'o', now() - $3 * interval '1 second')`,
    [newUuid(), organizationId, seconds],
  )

it('measures the entries that wait, and those of messages that were not received', async () => {
  expect(await measureWaitingAuditEntries(db.pool)).toEqual([
    { stream: 'file', ...none },
    { stream: 'organizations', ...none },
  ])

  const [first, second] = [await startStream(), await startStream()]
  await record(first, 20)
  await record(second, 100)
  await record(second)
  const [file, waiting] = await measureWaitingAuditEntries(db.pool)
  expect([file, waiting?.waiting]).toEqual([{ stream: 'file', ...none }, 3])
  expect(waiting?.oldestSeconds).toBeGreaterThanOrEqual(100)
  expect(waiting?.oldestSeconds).toBeLessThan(200)

  // In a message they still wait. Its age counts, because later entries cannot be sent before it is received.
  expect(await sendAuditEntries(db.pool, () => '{}')).toBe(2)
  await db.pool.query(`UPDATE outbox SET created_at = now() - interval '300 seconds'`)
  await record(first)
  const [, inFlight] = await measureWaitingAuditEntries(db.pool)
  expect(inFlight?.waiting).toBe(4)
  expect(inFlight?.oldestSeconds).toBeGreaterThanOrEqual(300)

  await db.pool.query('UPDATE outbox SET finished_at = now(), sent = true, content = NULL')
  const [, later] = await measureWaitingAuditEntries(db.pool)
  expect(later?.waiting).toBe(1)
  expect(later?.oldestSeconds).toBeLessThan(100)

  await openAuditFile(db.pool)
  await db.pool.query(
    `INSERT INTO operator_log (id, operator, address, action, object_id, created_at)
     VALUES ($1, 'ada@example.com', '192.0.2.8', 'user.suspended', 'user_1', now() - interval '500 seconds')`,
    [newUuid()],
  )
  const [ofOperators, ofOrganizations] = await measureWaitingAuditEntries(db.pool)
  expect([ofOperators?.waiting, ofOrganizations?.waiting]).toEqual([1, 1])
  expect(ofOperators?.oldestSeconds).toBeGreaterThanOrEqual(500)
})

it('counts at most ten thousand entries of each kind', async () => {
  for (const id of [NIL_UUID, randomUUID()])
    await db.pool.query(
      'INSERT INTO audit_stream_entries SELECT $1, gen_random_uuid() FROM generate_series(1, 10001)',
      [id],
    )
  expect((await measureWaitingAuditEntries(db.pool)).map(({ waiting }) => waiting)).toEqual([10_000, 10_000])
})
