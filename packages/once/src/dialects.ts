import { chain } from './chain.ts'
import { rowOf } from './row-of.ts'

/**
 * Runs a statement and returns its rows in the form of the library. It is called like a template tag, as `sql` of Drizzle and
 * Kysely and `$queryRaw` of Prisma are.
 */
export type Run<Result = unknown> = (text: TemplateStringsArray, ...values: Array<string | null>) => Result

/** The statements of a database. The row of an id counts its requests, and has the answer of the first one. */
export type Dialect = {
  /** Creates the table, unless it exists. */
  createTable: string
  /** Returns the statement that deletes ids which were received earlier. */
  deleteOlderThan(days: number): string
  /** Counts a request. Returns the row. It stays locked until the end of the transaction. */
  record(run: Run, id: string): unknown
  keep(run: Run, id: string, answer: string | null): unknown
}

export const postgres: Dialect = {
  createTable: `CREATE TABLE IF NOT EXISTS received_webhooks (
  id text PRIMARY KEY, times integer NOT NULL DEFAULT 1, received_at timestamptz NOT NULL DEFAULT now(), answer text
)`,
  deleteOlderThan: days => `DELETE FROM received_webhooks WHERE received_at < now() - interval '${days} days'`,
  record: (run, id) =>
    run`INSERT INTO received_webhooks (id) VALUES (${id})
ON CONFLICT (id) DO UPDATE SET times = received_webhooks.times + 1 RETURNING times, answer`,
  // now() is the start of the transaction.
  keep: (run, id, answer) =>
    chain(
      run`UPDATE received_webhooks SET answer = ${answer} WHERE id = ${id} AND received_at = now() RETURNING id`,
      kept => {
        if (rowOf(kept) === undefined)
          throw new Error('once() ran its statements outside of one transaction. Pass the transaction, not the pool.')
      },
    ),
}

export const sqlite: Dialect = {
  createTable: `CREATE TABLE IF NOT EXISTS received_webhooks (
  id text NOT NULL PRIMARY KEY, times integer NOT NULL DEFAULT 1, received_at text NOT NULL DEFAULT CURRENT_TIMESTAMP, answer text
)`,
  deleteOlderThan: days => `DELETE FROM received_webhooks WHERE received_at < datetime('now', '-${days} days')`,
  record: postgres.record,
  keep: (run, id, answer) => run`UPDATE received_webhooks SET answer = ${answer} WHERE id = ${id} RETURNING id`,
}

export const mysql: Dialect = {
  // Binary: the other collations ignore case or trailing spaces.
  createTable: `CREATE TABLE IF NOT EXISTS received_webhooks (
  id varbinary(255) PRIMARY KEY, times integer NOT NULL DEFAULT 1,
  received_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP, answer mediumtext CHARACTER SET utf8mb4
)`,
  deleteOlderThan: days => `DELETE FROM received_webhooks WHERE received_at < now() - INTERVAL ${days} DAY`,
  record: (run, id) =>
    chain(
      run`INSERT INTO received_webhooks (id) VALUES (${id}) ON DUPLICATE KEY UPDATE times = times + 1`,
      () => run`SELECT times, answer FROM received_webhooks WHERE id = ${id}`,
    ),
  keep: (run, id, answer) => run`UPDATE received_webhooks SET answer = ${answer} WHERE id = ${id}`,
}
