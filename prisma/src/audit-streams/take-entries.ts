import { NIL_UUID, newUuid, toId } from '@belfry/domain/id'
import { type AuditRow, presentAuditEntry, presentOperatorEntry, selectAuditEntries } from '../audit-log.ts'
import type { OperatorEntry } from '../generated/client.ts'
import { addToOutbox } from '../outbox/outbox.ts'
import { inTransaction, type Transaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'

/** The maximum entries and bytes of one message or one write. A longer entry is sent or written alone. */
export const auditBatch = { entries: 100, bytes: 256 * 1024 }

/** Longer than any outage of a receiver. The audit log keeps an entry for at least as long. */
const usefulMs = 30 * 24 * 3_600_000
const streamsPerRound = 50

/**
 * Stores a message in the outbox for each stream with new entries, unless it has a message that is not received yet. So
 * entries arrive almost in order, and a receiver that is down costs one message per attempt.
 * @param contentOf - Returns the content of the message with these JSON lines.
 * @returns How many messages it stored.
 */
export async function sendAuditEntries(pool: Pool, contentOf: (organizationId: string, lines: string) => string) {
  const { rows } = await pool.query<ListedStream>({
    name: 'audit_streams_to_send',
    text: `${streamsWithNews} LIMIT $1`,
    values: [streamsPerRound],
  })
  let messages = 0
  for (const stream of rows) if (await sendBatch(pool, stream, contentOf)) messages++
  return messages
}

type ListedStream = { organizationId: string; messageId: string | null }

/** The streams with new entries and no message that is not received yet. */
export const streamsWithNews = `
  SELECT s.organization_id AS "organizationId", s.message_id AS "messageId"
  FROM audit_streams s
  WHERE s.organization_id <> '${NIL_UUID}' AND EXISTS (SELECT FROM audit_stream_entries e WHERE e.organization_id = s.organization_id)
    AND NOT EXISTS (SELECT FROM outbox o WHERE o.id = s.message_id AND o.finished_at IS NULL)`

// The dispatcher drops every message of a stream except the latest, so another scheduler must not have sent since the list.
function sendBatch(
  pool: Pool,
  { organizationId, messageId }: ListedStream,
  contentOf: (organizationId: string, lines: string) => string,
) {
  return inTransaction(pool, async tx => {
    const lock = `
      SELECT FROM audit_streams WHERE organization_id = $1 AND message_id IS NOT DISTINCT FROM $2
      FOR NO KEY UPDATE SKIP LOCKED`
    if ((await tx.query(lock, [organizationId, messageId])).rowCount === 0) return false
    const batch = await takeEntries(tx, organizationId)
    if (batch.count === 0) return false
    const id = newUuid()
    const text = 'UPDATE audit_streams SET message_id = $2, message_entries = $3 WHERE organization_id = $1'
    await tx.query(text, [organizationId, id, batch.count])
    await addToOutbox(tx, {
      ...{ id, kind: 'webhook', label: 'audit log', content: contentOf(organizationId, batch.lines) },
      ...{ masterKeys: null, usefulMs, tenant: { organizationId } },
    })
    return true
  })
}

/**
 * Passes the next entries of all organizations and of operators to `write`, as JSON lines, and forgets them once it is done.
 * A process that dies in between writes them again.
 * @returns How many entries were written.
 */
export function writeAuditEntries(pool: Pool, write: (lines: string) => Promise<void>): Promise<number> {
  return inTransaction(pool, async tx => {
    const { lines, count } = await takeEntries(tx, NIL_UUID)
    if (count > 0) await write(lines)
    return count
  })
}

/** Starts the stream of the operators' file, unless it runs already. */
export async function openAuditFile(pool: Pool): Promise<void> {
  const text = `
    INSERT INTO audit_streams (organization_id) VALUES ($1)
    ON CONFLICT (organization_id) DO UPDATE SET updated_at = now()`
  await pool.query(text, [NIL_UUID])
}

/** How long the entries wait for a process with the setting, after the last one has stopped. */
const unusedFor = `interval '30 days'`

/** Ends the stream of the file when no process has had the setting for 30 days. Returns whether it ended. */
export async function closeUnusedAuditFile(pool: Pool): Promise<boolean> {
  const text = `DELETE FROM audit_streams WHERE organization_id = $1 AND updated_at < now() - ${unusedFor}`
  return (await pool.query(text, [NIL_UUID])).rowCount === 1
}

/** Deletes up to `limit` entries of streams that have ended. Returns how many there were. */
export async function dropUnstreamedEntries(pool: Pool, limit: number): Promise<number> {
  const text = `
    DELETE FROM audit_stream_entries WHERE (organization_id, entry_id) IN (
      SELECT organization_id, entry_id FROM audit_stream_entries e
      WHERE NOT EXISTS (SELECT FROM audit_streams s WHERE s.organization_id = e.organization_id) LIMIT $1
    )`
  return (await pool.query(text, [limit])).rowCount ?? 0
}

// Entries that another process takes at the same moment are left out. Those whose entry has expired are only deleted.
async function takeEntries(tx: Transaction, organizationId: string): Promise<{ lines: string; count: number }> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT entry_id AS id FROM audit_stream_entries WHERE organization_id = $1 ORDER BY entry_id LIMIT $2
     FOR UPDATE SKIP LOCKED`,
    [organizationId, auditBatch.entries],
  )
  const ids = rows.map(({ id }) => id)
  const found = ids.length === 0 ? new Map<string, string>() : await readLines(tx, ids)
  const taken: string[] = []
  let lines = ''
  let bytes = 0
  let count = 0
  for (const id of ids) {
    const line = found.get(id) ?? ''
    bytes += Buffer.byteLength(line)
    if (count > 0 && bytes > auditBatch.bytes) break
    taken.push(id)
    lines += line
    if (line !== '') count++
  }
  const text = 'DELETE FROM audit_stream_entries WHERE organization_id = $1 AND entry_id = ANY ($2)'
  if (taken.length > 0) await tx.query(text, [organizationId, taken])
  return { lines, count }
}

async function readLines(tx: Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const ofOrganizations = await tx.query<AuditRow>(`${selectAuditEntries} WHERE a.id = ANY ($1)`, [ids])
  const lines = new Map(ofOrganizations.rows.map(row => [row.id, lineOf(row)]))
  if (lines.size === ids.length) return lines
  const ofOperators = await tx.query<OperatorEntry>(
    `SELECT id, operator, address, action, object_id AS "objectId", details, created_at AS "createdAt"
     FROM operator_log WHERE id = ANY ($1)`,
    [ids],
  )
  for (const row of ofOperators.rows) lines.set(row.id, operatorLineOf(row))
  return lines
}

function lineOf(row: AuditRow): string {
  const line = { log: 'audit', organization_id: toId('org', row.organizationId), ...presentAuditEntry(row) }
  return `${JSON.stringify(line)}\n`
}

function operatorLineOf(row: OperatorEntry): string {
  return `${JSON.stringify({ log: 'operator', ...presentOperatorEntry(row) })}\n`
}
