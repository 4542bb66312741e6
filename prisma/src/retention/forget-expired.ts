import { accountLogKeptFor } from '../account-log.ts'
import type { Pool } from '../postgres/pool.ts'

const batchSize = 1000

/**
 * Deletes a batch of expired sessions, password resets, email confirmations, challenges, throttles, billing events, hashes of
 * messages and of exchanged tokens, API keys of jobs, entries of account logs, tests of connections and signing secrets of
 * subscriptions. Returns how many rows it deleted.
 */
export async function forgetExpired(pool: Pool): Promise<number> {
  const sessions = await pool.query(
    `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const resets = await pool.query(
    `DELETE FROM password_resets WHERE token_hash IN
       (SELECT token_hash FROM password_resets WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const confirmations = await pool.query(
    `DELETE FROM email_confirmations WHERE token_hash IN
       (SELECT token_hash FROM email_confirmations WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const challenges = await pool.query(
    `DELETE FROM challenges WHERE hash IN (SELECT hash FROM challenges WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const throttles = await pool.query(
    `DELETE FROM throttles WHERE free_at < now()
     AND name IN (SELECT name FROM throttles WHERE free_at < now() LIMIT ${batchSize})`,
  )
  // The payment provider repeats an event for some days only. A month is a safe margin.
  const events = await pool.query(
    `DELETE FROM billing_events WHERE id IN
       (SELECT id FROM billing_events WHERE received_at < now() - interval '30 days' LIMIT ${batchSize})`,
  )
  const messages = await pool.query(
    `DELETE FROM qstash_deduplications WHERE (workspace_id, hash) IN
       (SELECT workspace_id, hash FROM qstash_deduplications WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const tokens = await pool.query(
    `DELETE FROM exchanged_tokens WHERE hash IN
       (SELECT hash FROM exchanged_tokens WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const keys = await pool.query(
    `DELETE FROM api_keys WHERE id IN
       (SELECT id FROM api_keys WHERE federated_credential_id IS NOT NULL AND expires_at < now() LIMIT ${batchSize})`,
  )
  const entries = await pool.query(
    `DELETE FROM account_log WHERE id IN
       (SELECT id FROM account_log WHERE id < uuid_v7_floor(now() - ${accountLogKeptFor}) ORDER BY id LIMIT ${batchSize})`,
  )
  const tests = await pool.query(
    `DELETE FROM connection_tests WHERE id IN
       (SELECT id FROM connection_tests WHERE created_at < now() - interval '1 hour' LIMIT ${batchSize})`,
  )
  const secrets = await pool.query(
    `DELETE FROM subscription_secrets WHERE id IN
       (SELECT id FROM subscription_secrets WHERE expires_at < now() LIMIT ${batchSize})`,
  )
  const ended = [sessions, resets, confirmations, challenges, tokens, keys, tests, secrets]
  const deleted = [...ended, throttles, events, messages, entries]
  return deleted.reduce((total, { rowCount }) => total + (rowCount ?? 0), 0)
}
