import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertAuditEntry } from '@belfry/db/audit-log'
import { auditBatch } from '@belfry/db/audit-streams/take-entries'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { NIL_UUID, newUuid, toId } from '@belfry/domain/id'
import type { Message } from '@belfry/messages'
import { expect, it, onTestFinished } from 'vitest'
import type { Context } from '../src/context.ts'
import { sendAuditLogs, startAuditFile, tidyAuditStreams, writeAuditFile } from '../src/stream-audit-logs.ts'
import { openTestContext } from './setup.ts'

const { signal } = new AbortController()

async function setup() {
  const ctx = await openTestContext()
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  onTestFinished(async () => {
    await ctx.close()
    await rm(folder, { recursive: true })
  })
  const file = join(folder, 'audit.jsonl')
  return { ctx, file, withFile: { ...ctx, auditLogFile: file }, ...tools(ctx) }
}

function tools({ pool }: Context) {
  const organizationId = randomUUID()
  return {
    organizationId,
    startStream: () =>
      pool.query(
        `INSERT INTO audit_streams (organization_id, shown_target, sealed_target, master_key_id, wrapped_key)
         VALUES ($1, 'logs.example.com', '', 'k1', '')`,
        [organizationId],
      ),
    record: (objectId: string, details = {}, organization = organizationId, tx = pool as never) =>
      insertAuditEntry(tx, {
        ...{ organizationId: organization, workspaceId: null, userId: null, apiKeyId: null, address: '192.0.2.7' },
        ...{ action: 'organization.changed' as const, objectId, details },
      }),
    recordOperator: () =>
      pool.query(
        `INSERT INTO operator_log (id, operator, address, action, object_id)
         VALUES ($1, 'ada@example.com', '192.0.2.8', 'user.suspended', 'user_1')`,
        [newUuid()],
      ),
    /** Ends the messages that wait, as a dispatcher does, and returns their entries. */
    async receive() {
      const { rows } = await pool.query<{ content: Buffer }>(
        `WITH waiting AS (SELECT id, content FROM outbox WHERE finished_at IS NULL)
         UPDATE outbox o SET finished_at = now(), sent = true, content = NULL FROM waiting w WHERE w.id = o.id
         RETURNING w.content`,
      )
      return rows.map(({ content }) => {
        const message = JSON.parse(content.toString()) as Extract<Message, { type: 'audit_log' }>
        expect(message).toMatchObject({ type: 'audit_log', organizationId })
        return parse(message.lines)
      })
    },
    count: async (table: string) =>
      (await pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`)).rows[0]?.n,
  }
}

function parse(lines: string) {
  return lines
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
}

it('sends the entries of an organization since its stream began, one message at a time', async () => {
  const { ctx, organizationId, startStream, record, recordOperator, receive } = await setup()
  await record('before')
  await startStream()
  await record('first', { name: { from: 'A', to: 'B' } })
  await record('of another', {}, randomUUID())
  await recordOperator()
  expect(await sendAuditLogs(ctx, signal)).toBe(1)
  await record('second')
  expect(await sendAuditLogs(ctx, signal)).toBe(0)
  const [first, ...others] = await receive()
  expect(others).toEqual([])
  expect(first).toEqual([
    {
      log: 'audit',
      organization_id: toId('org', organizationId),
      id: expect.stringMatching(/^aud_/),
      action: 'organization.changed',
      actor: { user_id: null, email: null, api_key_id: null },
      workspace_id: null,
      object_id: 'first',
      address: '192.0.2.7',
      details: { name: { from: 'A', to: 'B' } },
      created_at: expect.any(String),
    },
  ])
  expect(await sendAuditLogs(ctx, signal)).toBe(1)
  expect(await receive()).toMatchObject([[{ object_id: 'second' }]])
  expect(await sendAuditLogs(ctx, signal)).toBe(0)
})

it('sends one message of two schedulers that have found the same entries', async () => {
  const { ctx, startStream, record, receive } = await setup()
  await startStream()
  for (let i = 0; i < auditBatch.entries * 1.5; i++) await record(`${i}`)
  let lists = 0
  const pool = Object.assign(Object.create(ctx.pool), {
    async query(list: never) {
      const found = await ctx.pool.query(list)
      lists++
      await expect.poll(() => lists, { timeout: 20_000 }).toBeGreaterThan(1)
      return found
    },
  })
  const sent = await Promise.all([1, 2].map(() => sendAuditLogs({ ...ctx, pool }, signal)))
  expect(sent.toSorted()).toEqual([0, 1])
  expect((await receive()).map(({ length }) => length)).toEqual([auditBatch.entries])
  expect(await sendAuditLogs(ctx, signal)).toBe(1)
  expect((await receive()).map(({ length }) => length)).toEqual([auditBatch.entries / 2])
})

it('misses no entry whose transaction commits after later entries were sent', async () => {
  const { ctx, startStream, record, receive } = await setup()
  await startStream()
  await inTransaction(ctx.pool, async tx => {
    await record('slow', {}, undefined, tx as never)
    await record('fast')
    await sendAuditLogs(ctx, signal)
    expect(await receive()).toMatchObject([[{ object_id: 'fast' }]])
  })
  await sendAuditLogs(ctx, signal)
  expect(await receive()).toMatchObject([[{ object_id: 'slow' }]])
})

it('divides many entries, and long ones, between messages', async () => {
  const { ctx, startStream, record, receive } = await setup()
  await startStream()
  for (let i = 0; i < auditBatch.entries * 2 + 1; i++) await record(`${i}`)
  const long = 'x'.repeat(auditBatch.bytes * 0.6)
  for (const name of ['long', 'longer']) await record(name, { long })
  await record('longest', { long: 'x'.repeat(auditBatch.bytes * 1.5) })
  const batches: number[] = []
  const ids = new Set<string>()
  while ((await sendAuditLogs(ctx, signal)) > 0) {
    for (const batch of await receive()) {
      batches.push(batch.length)
      for (const { id } of batch) ids.add(id)
    }
  }
  expect(batches).toEqual([auditBatch.entries, auditBatch.entries, 2, 1, 1])
  expect(ids.size).toBe(auditBatch.entries * 2 + 4)
})

it('appends the entries of all organizations and those of operators to a file, once', async () => {
  const { ctx, withFile, file, record, recordOperator } = await setup()
  await record('before')
  await startAuditFile(withFile)
  await record('first')
  await recordOperator()
  expect(await writeAuditFile(ctx, signal, file)).toBe(2)
  await record('second', {}, randomUUID())
  expect(await writeAuditFile(ctx, signal, file)).toBe(1)
  expect(await writeAuditFile(ctx, signal, file)).toBe(0)
  expect(parse(await readFile(file, 'utf8'))).toMatchObject([
    { log: 'audit', object_id: 'first' },
    { log: 'operator', operator: 'ada@example.com', action: 'user.suspended', object_id: 'user_1' },
    { log: 'audit', object_id: 'second' },
  ])
})

it('writes entries again, with the same ids, when the write was not committed, and ends a line that was cut', async () => {
  const { ctx, withFile, file, record } = await setup()
  await startAuditFile(withFile)
  await record('first')
  const broken = Object.assign(Object.create(ctx.pool), {
    connect: async () => {
      const client = await ctx.pool.connect()
      const query = client.query.bind(client)
      return Object.assign(Object.create(client), {
        query: (text: string, values?: unknown[]) =>
          text === 'COMMIT' ? Promise.reject(new Error('lost')) : query(text, values),
        release: () => client.release(true),
      })
    },
  })
  await expect(writeAuditFile({ ...ctx, pool: broken }, signal, file)).rejects.toThrow('lost')
  await appendFile(file, '{"log":"aud')
  expect(await writeAuditFile(ctx, signal, file)).toBe(1)
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  expect(lines).toEqual([lines[0], '{"log":"aud', lines[0]])
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ object_id: 'first' })
})

it('refuses to start with a file that it cannot open', async () => {
  const { ctx, file } = await setup()
  const auditLogFile = join(file, 'below-a-file')
  await appendFile(file, '')
  await expect(startAuditFile({ ...ctx, auditLogFile })).rejects.toThrow('ENOTDIR')
})

it('keeps entries for the file for 30 days without a process that writes it, and drops those of streams that ended', async () => {
  const { ctx, withFile, startStream, record, count } = await setup()
  await startAuditFile(withFile)
  await startStream()
  await record('first')
  expect(await count('audit_stream_entries')).toBe(2)
  await ctx.pool.query(`UPDATE audit_streams SET updated_at = now() - interval '31 days'`)
  await tidyAuditStreams(withFile, signal)
  expect(await count('audit_stream_entries')).toBe(2)
  const age = (days: number) =>
    ctx.pool.query(`UPDATE audit_streams SET updated_at = now() - $1 * interval '1 day' WHERE organization_id = $2`, [
      days,
      NIL_UUID,
    ])
  await age(29)
  await tidyAuditStreams(ctx, signal)
  expect(await count('audit_stream_entries')).toBe(2)
  await age(31)
  await tidyAuditStreams(ctx, signal)
  expect(await count('audit_stream_entries')).toBe(1)
  await record('second')
  expect(await count('audit_stream_entries')).toBe(2)
  await ctx.pool.query('DELETE FROM audit_streams')
  await tidyAuditStreams(ctx, signal)
  expect(await count('audit_stream_entries')).toBe(0)
})
