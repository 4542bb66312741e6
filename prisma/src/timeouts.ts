/** No statement may hang on a lock or a lost connection for longer than a caller would wait. */
export const timeouts = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 15_000,
  query_timeout: 12_000,
  keepAlive: true,
}
