import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { NIL_UUID } from '@belfry/domain/id'
import type pg from 'pg'
import { findMigrationFolder, readMigrationFiles } from './migration-folder.ts'
import { type Connections, transactWithLocks, withConnections } from './transact-with-locks.ts'

export type BackfillOptions = {
  /** Rows per batch. A batch is one transaction. Default: 1,000. */
  batchSize?: number
  /** Ends the backfill. The next one continues after the last complete batch. */
  signal?: AbortSignal
  /** Receives a line at the start and at the end, when other sessions hold its rows, and every ten seconds. */
  print?: (line: string) => void
}

type Backfill = {
  /** The name of its migration. */
  name: string
  /** The table, whose primary key is `id`. */
  table: string
  /** Changes the rows after $1, up to and including $2. */
  statement: string
}

const defaultBatchSize = 1_000
// It pauses for as long as a batch took, so it takes at most half of one connection's time.
const [minPauseMs, maxPauseMs] = [20, 5_000]
const reportMs = 10_000

/**
 * Runs the backfills of migrations that are not finished, in their order: the files `backfill.sql` beside `migration.sql`.
 * Several may run at once; a batch is done once. Returns the number of rows that were read.
 */
export async function runBackfills(databaseUrl: string, folder = findMigrationFolder(), options: BackfillOptions = {}) {
  return withConnections(databaseUrl, 'belfry-backfill', async connections => {
    await connections.client.query(progressTable)
    let total = 0
    for (const backfill of await readBackfills(folder)) total += await runBackfill(connections, backfill, options)
    return total
  })
}

// In a separate schema, because the operator's commands use it, not the services. Two that create it at once would
// fail, so the second waits for the first.
const progressTable = `
  SELECT pg_advisory_xact_lock(hashtext('belfry backfills'));
  CREATE SCHEMA IF NOT EXISTS backfills;
  CREATE TABLE IF NOT EXISTS backfills.progress (
    name text PRIMARY KEY,
    position uuid,
    rows bigint NOT NULL DEFAULT 0,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
  )`

async function readBackfills(folder: string): Promise<Backfill[]> {
  const backfills: Backfill[] = []
  for (const { name } of await readMigrationFiles(folder)) {
    const text = await readFile(join(folder, 'migrations', name, 'backfill.sql'), 'utf8').catch(() => null)
    if (text !== null) backfills.push(parseBackfill(name, text))
  }
  return backfills
}

function parseBackfill(name: string, text: string): Backfill {
  const { table, statement } = /^-- table: (?<table>\w+)\n(?<statement>[\s\S]+)$/.exec(text)?.groups ?? {}
  if (!table || !statement?.includes('$1') || !statement.includes('$2'))
    throw new Error(`The backfill of ${name} needs a first line "-- table: NAME", and a statement with $1 and $2.`)
  return { name, table, statement }
}

async function runBackfill(connections: Connections, backfill: Backfill, options: BackfillOptions): Promise<number> {
  const { batchSize = defaultBatchSize, signal, print = () => {} } = options
  const { client } = connections
  const title = `backfill ${backfill.name}`
  const locks = { onBlocked: print, patienceMs: Number.POSITIVE_INFINITY, ...(signal && { signal }) }
  await client.query('INSERT INTO backfills.progress (name) VALUES ($1) ON CONFLICT DO NOTHING', [backfill.name])
  let reportedAt = Number.NEGATIVE_INFINITY
  for (let read = 0; ; ) {
    signal?.throwIfAborted()
    const began = performance.now()
    const batch = await transactWithLocks(connections, title, () => doBatch(client, backfill, batchSize), locks)
    read += batch.rows
    if (batch.isFinished) {
      if (read > 0) print(`${title}: finished, ${batch.total} rows read`)
      return read
    }
    if (performance.now() - reportedAt > reportMs) {
      print(`${title}: running, ${batch.total} rows read`)
      reportedAt = performance.now()
    }
    await sleep(Math.min(Math.max(performance.now() - began, minPauseMs), maxPauseMs), undefined, signal && { signal })
  }
}

// The position commits with the rows, so each batch is applied exactly once, even after a kill.
async function doBatch(client: pg.Client, { name, table, statement }: Backfill, batchSize: number) {
  const { rows } = await client.query<{ position: string | null; total: string; isFinished: boolean }>(
    `SELECT position, rows AS total, finished_at IS NOT NULL AS "isFinished" FROM backfills.progress
     WHERE name = $1 FOR UPDATE`,
    [name],
  )
  const [{ position, total, isFinished } = { position: null, total: '0', isFinished: false }] = rows
  const text = `SELECT id FROM "${table}" WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2`
  const ids = isFinished ? [] : (await client.query<{ id: string }>(text, [position, batchSize])).rows
  const last = ids.at(-1)
  if (!last) {
    const finish = 'UPDATE backfills.progress SET finished_at = coalesce(finished_at, now()) WHERE name = $1'
    await client.query(finish, [name])
    return { isFinished: true, rows: 0, total: Number(total) }
  }
  await client.query(statement, [position ?? NIL_UUID, last.id])
  const advance = 'UPDATE backfills.progress SET position = $2, rows = rows + $3 WHERE name = $1'
  await client.query(advance, [name, last.id, ids.length])
  return { isFinished: false, rows: ids.length, total: Number(total) + ids.length }
}
