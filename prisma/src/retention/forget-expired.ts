import { accountLogKeptFor } from '../account-log.ts'
import type { Pool } from '../postgres/pool.ts'

const batchSize = 1000

const hasExpired = 'expires_at < now()'

/** The tables whose rows expire: the primary key, and the condition of an expired row. */
const expiring = [
  ['sessions', 'id', hasExpired],
  ['password_resets', 'token_hash', hasExpired],
  ['email_confirmations', 'token_hash', hasExpired],
  ['challenges', 'hash', hasExpired],
  ['throttles', 'name', 'free_at < now()'],
  // The payment provider repeats an event for some days only. A month is a safe margin.
  ['billing_events', 'id', `received_at < now() - interval '30 days'`],
  ['bulk_operations', 'id', `finished_at <= now() - interval '30 days'`],
  ['qstash_deduplications', 'workspace_id, hash', hasExpired],
  ['exchanged_tokens', 'hash', hasExpired],
  ['api_keys', 'id', `federated_credential_id IS NOT NULL AND ${hasExpired}`],
  ['account_log', 'id', `id < uuid_v7_floor(now() - ${accountLogKeptFor})`],
  ['connection_tests', 'id', `created_at < now() - interval '1 hour'`],
  ['subscription_secrets', 'id', hasExpired],
  ['subscriptions', 'id', hasExpired],
]

/** Deletes a batch of expired rows of each table. Returns how many it deleted. */
export async function forgetExpired(pool: Pool): Promise<number> {
  let deleted = 0
  for (const [table, key, condition] of expiring) {
    // A row that was renewed since the selection stays.
    const { rowCount } = await pool.query(
      `DELETE FROM ${table} WHERE ${condition}
       AND (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${batchSize})`,
    )
    deleted += rowCount ?? 0
  }
  return deleted
}
