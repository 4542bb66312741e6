/** No statement may hang on a lock or a lost connection for longer than a caller would wait. */
export const timeouts = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 15_000,
  keepAlive: true,
}

/** A connection in use on which nothing comes or goes for so long is lost. Longer than any statement may take. */
export const longestSilenceMs = 12_000
