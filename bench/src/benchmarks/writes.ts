import { startBelfry } from '../lab/belfry.ts'
import { type Lab, requireCalls } from '../lab/lab.ts'
import { promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { measured } from '../measure/statistics.ts'
import type { Benchmark } from './benchmark.ts'

const count = 10_000

/** What a dispatch asks of PostgreSQL in saturation, counted by PostgreSQL itself. */
export const writes: Benchmark = {
  name: 'writes',
  title: 'Statements and WAL of a dispatch, 200 calls at once',
  async run(lab, { rounds }) {
    const samples = await rounds.run(() => countWrites(lab))
    return {
      rounds: samples,
      figures: [
        {
          key: 'statements_per_dispatch',
          title: 'statements of all services, their chores and the promotion included',
          ...measured(samples.map(({ statements }) => statements)),
          limit: { atMost: 0.1 },
        },
        {
          key: 'wal_bytes_per_dispatch',
          title: 'write-ahead log, the full pages after a checkpoint included',
          unit: 'B',
          ...measured(samples.map(({ walBytes }) => walBytes)),
          limit: { atMost: 4_000 },
        },
      ],
    }
  },
}

async function countWrites(lab: Lab) {
  const database = await lab.freshDatabase()
  const { pool } = database
  await pool.query('CREATE EXTENSION pg_stat_statements')
  await pool.query(
    'DO $$ BEGIN EXECUTE format($f$ALTER DATABASE %I SET pg_stat_statements.track = top$f$, current_database()); END $$',
  )
  const belfry = await startBelfry(lab, database, { services: ['scheduler', 'dispatcher'] })
  try {
    lab.target.counter.reset()
    const stored = await storeTasks(database, { count, url: lab.target.url(), dueInMs: 3_000 })
    await pool.query('CHECKPOINT')
    await pool.query('SELECT pg_stat_statements_reset()')
    const { lsn } = await one<{ lsn: string }>(pool.query('SELECT pg_current_wal_insert_lsn() AS lsn'))
    await promote(database, stored)
    await requireCalls(lab, count)
    await requireRecorded(database, stored)
    const { calls, bytes } = await one<{ calls: number; bytes: number }>(
      pool.query(
        `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::float8 AS bytes, sum(calls)::float8 AS calls
         FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [lsn],
      ),
    )
    return { statements: calls / count, walBytes: bytes / count }
  } finally {
    await belfry.stop()
    await database.close()
  }
}

async function one<Row>(asked: Promise<{ rows: unknown[] }>): Promise<Row> {
  return (await asked).rows[0] as Row // the statement has one row with these columns
}
