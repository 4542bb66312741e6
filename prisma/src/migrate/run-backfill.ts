import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { NIL_UUID } from '@belfry/domain/id'
import type pg from 'pg'
import { isTransientDatabaseError } from '../postgres/database-errors.ts'
import { withClient } from '../postgres/with-client.ts'
import { findMigrationFolder, readMigrationFiles } from './migration-folder.ts'

export type BackfillOptions = {
  /** Rows of a batch, which is one transaction. Default: 1,000. */
  batchSize?: number
  /** Ends the backfill after the batch in flight. The next one continues there. */
  signal?: AbortSignal
  /** Receives a line at the start and at the end, whenever it begins or ceases to wait, and every ten seconds. */
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
const lockTimeoutMs = 1_000
// It pauses for as long as a batch took, so it takes at most half of one connection's time.
const [minPauseMs, maxPauseMs] = [20, 5_000]
const reportMs = 10_000

/**
 * Runs the backfills of migrations that are not finished, in their order: the files `backfill.sql` beside `migration.sql`.
 * Several may run at once; a batch is done once. Returns the number of rows that were read.
 */
export async function runBackfills(
  databaseUrl: string,
  folder = findMigrationFolder(),
  options: BackfillOptions = {},
): Promise<number> {
  return withClient({ connectionString: databaseUrl, application_name: 'belfry-backfill' }, async client => {
    await client.query(progressTable)
    let total = 0
    for (const backfill of await readBackfills(folder)) total += await runBackfill(client, backfill, options)
    return total
  })
}

// In a schema of its own, because it belongs to the operator's commands and not to the services.
// Two that create it at once would fail, so the second waits for the first.
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

async function runBackfill(client: pg.Client, backfill: Backfill, options: BackfillOptions): Promise<number> {
  const { signal, print = () => {} } = options
  const { name } = backfill
  await client.query('INSERT INTO backfills.progress (name) VALUES ($1) ON CONFLICT DO NOTHING', [name])
  let [reported, reportedAt] = ['', Number.NEGATIVE_INFINITY]
  for (let read = 0; ; ) {
    signal?.throwIfAborted()
    const began = performance.now()
    const batch = await nextBatch(client, backfill, options.batchSize ?? defaultBatchSize)
    read += batch.rows
    if (batch.state === 'finished') {
      if (read > 0) print(`backfill ${name}: finished, ${batch.total} rows read`)
      return read
    }
    if (batch.state !== reported || performance.now() - reportedAt > reportMs) {
      print(`backfill ${name}: ${batch.state}, ${batch.total} rows read`)
      reported = batch.state
      reportedAt = performance.now()
    }
    await sleep(Math.min(Math.max(performance.now() - began, minPauseMs), maxPauseMs), undefined, signal && { signal })
  }
}

type Batch = { state: 'running' | 'waiting for a lock' | 'finished'; rows: number; total: number }

async function nextBatch(client: pg.Client, backfill: Backfill, batchSize: number): Promise<Batch> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    const batch = await doBatch(client, backfill, batchSize)
    await client.query('COMMIT')
    return batch
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    if (!isTransientDatabaseError(error)) throw error
    // Rejects when the connection is gone. The operator starts the command again, and it continues.
    const total = await readTotal(client, backfill.name)
    return { state: 'waiting for a lock', rows: 0, total }
  }
}

// The position commits with the rows, so a kill loses or repeats no batch.
async function doBatch(client: pg.Client, { name, table, statement }: Backfill, batchSize: number): Promise<Batch> {
  const { rows } = await client.query<{ position: string | null; total: string; isFinished: boolean }>(
    `SELECT position, rows AS total, finished_at IS NOT NULL AS "isFinished" FROM backfills.progress
     WHERE name = $1 FOR UPDATE`,
    [name],
  )
  const [{ position, total, isFinished } = { position: null, total: '0', isFinished: false }] = rows
  if (isFinished) return { state: 'finished', rows: 0, total: Number(total) }
  const page = await client.query<{ id: string }>(
    `SELECT id FROM "${table}" WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2`,
    [position, batchSize],
  )
  const last = page.rows.at(-1)
  if (!last) {
    await client.query('UPDATE backfills.progress SET finished_at = now() WHERE name = $1', [name])
    return { state: 'finished', rows: 0, total: Number(total) }
  }
  await client.query(statement, [position ?? NIL_UUID, last.id])
  await client.query('UPDATE backfills.progress SET position = $2, rows = rows + $3 WHERE name = $1', [
    name,
    last.id,
    page.rows.length,
  ])
  return { state: 'running', rows: page.rows.length, total: Number(total) + page.rows.length }
}

async function readTotal(client: pg.Client, name: string): Promise<number> {
  const { rows } = await client.query<{ rows: string }>('SELECT rows FROM backfills.progress WHERE name = $1', [name])
  return Number(rows[0]?.rows ?? 0)
}
