import type { Benchmark } from '../benchmark.ts'
import { startBelfry } from '../lab/belfry.ts'
import { readRow } from '../lab/database.ts'
import { type Lab, requireCalls } from '../lab/lab.ts'
import { promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { interleave } from '../measure/interleave.ts'
import { measured } from '../measure/statistics.ts'

const count = 10_000

/** Counts the statements and the write-ahead log of a dispatch at full load. */
export const writes: Benchmark = {
  name: 'writes',
  title: 'Statements and WAL of a dispatch, 200 calls in parallel',
  async run(lab, { rounds }) {
    const samples = (await interleave({ belfry: () => countWrites(lab) }, rounds)).belfry
    return {
      rounds: samples,
      figures: [
        {
          key: 'statements_per_dispatch',
          title: 'statements of all services, including their chores and the promotion',
          ...measured(samples.map(({ statements }) => statements)),
          limit: { atMost: 0.1 },
        },
        {
          key: 'wal_bytes_per_dispatch',
          title: 'write-ahead log, including the full pages after a checkpoint',
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
    const { lsn } = await readRow<{ lsn: string }>(database, 'SELECT pg_current_wal_insert_lsn() AS lsn')
    await promote(database, stored)
    await requireCalls(lab, count)
    await requireRecorded(database, stored)
    const { calls, bytes } = await readRow<{ calls: number; bytes: number }>(
      database,
      `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::float8 AS bytes, sum(calls)::float8 AS calls
       FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [lsn],
    )
    return { statements: calls / count, walBytes: bytes / count }
  } finally {
    await belfry.stop()
    await database.close()
  }
}
