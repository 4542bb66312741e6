/** Limits how long a statement waits for a lock or a lost connection. */
export const timeouts = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 15_000,
  keepAlive: true,
}

/** A connection in use counts as lost after this time without data. Longer than any statement may take. */
export const maxSilenceMs = 12_000
