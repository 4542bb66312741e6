import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuPerOperation, type ProcessGroups, readCpu } from '@belfry/test-support/proc'
import { startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import type { Benchmark } from '../benchmark.ts'
import { type Belfry, startBelfry } from '../lab/belfry.ts'
import { repositoryRoot } from '../lab/child-process.ts'
import { apiKey, connectTo, createTemplate, type Database, openDatabase, readValue } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { startBenchPostgres } from '../lab/servers.ts'
import { payload } from '../lab/tasks.ts'
import { measured, quantile } from '../measure/statistics.ts'
import { rates, type Sample, totalCpuUs, warmUpShare } from '../measure/window.ts'

const backlog = 50_000
const perSecond = 200
const steadySeconds = 10
const at = '2099-01-01T00:00:00Z'

/** Measures one relay, from an outbox to Belfry's API on the same machine and the same PostgreSQL. */
export const relay: Benchmark = {
  name: 'relay',
  title: 'An outbox and one relay',
  async run(lab, { rounds }) {
    const samples: Round[] = []
    for (let round = 0; round < rounds; round++) samples.push(await measureRound(lab, round))
    const lags = (share: number) => measured(samples.map(({ lagsMs }) => quantile(lagsMs, share)))
    return {
      rounds: samples.map(({ drain }) => drain),
      notes: [`A backlog of ${backlog} calls; then ${perSecond} transactions a second for ${steadySeconds} s.`],
      figures: [
        {
          key: 'relay_rows_per_second',
          title: 'calls of a backlog that one relay moves in a second',
          unit: '',
          ...measured(rates(samples.map(({ drain }) => drain))),
          limit: { atLeast: 5_000 },
        },
        {
          key: 'relay_cpu_us',
          title: 'CPU of one of them, over the relay, the API and PostgreSQL',
          unit: 'us',
          ...measured(samples.map(({ drain }) => totalCpuUs(drain))),
        },
        { key: 'relay_lag_p50_ms', title: 'from the commit to the commit in Belfry, median', unit: 'ms', ...lags(0.5) },
        {
          key: 'relay_lag_p99_ms',
          title: 'the same, 99 of 100 calls',
          unit: 'ms',
          ...lags(0.99),
          limit: { atMost: 50 },
        },
      ],
    }
  },
}

type Round = { drain: Sample; lagsMs: number[] }

// The server keeps the time of each commit, so both ends of a lag are read from one clock.
async function measureRound(lab: Lab, round: number): Promise<Round> {
  await using postgres = await startBenchPostgres(join(lab.folder, `relay-${round}`), { track_commit_timestamp: 'on' })
  await createTemplate(postgres)
  await using database = await openDatabase(postgres)
  await using belfry = await startBelfry(lab, database, { services: ['api'], redisUrl: null })
  await using outbox = connectTo(postgres.url('postgres'))
  await outbox.pool.query(await readFile(join(repositoryRoot, 'programs/cli/outbox.sql'), 'utf8'))
  await outbox.pool.query('CREATE TABLE orders (id integer PRIMARY KEY)')
  const call = `belfry.call_at('${lab.target.url()}', '${at}', '${payload}'`
  await outbox.pool.query(`SELECT ${call}) FROM generate_series(1, ${backlog})`)
  await outbox.pool.query('VACUUM ANALYZE belfry.outbox')
  await using running = await startRelay(outbox.url, belfry)
  const drain = await measureDrain(database, { node: [running.pid, ...belfry.pids], postgres: [postgres.pid] })
  await waitFor(
    () => readValue<number>(outbox, 'SELECT count(*)::int FROM belfry.outbox'),
    count => count === 0,
    60_000,
  )
  await holdRate(
    outbox.url,
    `WITH placed AS (INSERT INTO orders VALUES ($1)) SELECT ${call}, jsonb_build_object('name', $1::text))`,
  )
  return { drain, lagsMs: await readLags(outbox, database) }
}

async function startRelay(outboxUrl: string, { port }: Belfry): Promise<AsyncDisposable & { pid: number }> {
  const program = join(repositoryRoot, 'programs/cli/dist/main.mjs')
  const env = { OUTBOX_DATABASE_URL: outboxUrl, BELFRY_URL: `http://127.0.0.1:${port}`, BELFRY_API_KEY: apiKey }
  const running = startProcess([process.execPath, program, 'relay'], { env })
  await running.prints(/Relaying to/)
  return {
    pid: running.pid,
    async [Symbol.asyncDispose]() {
      await running.stop()
    },
  }
}

// Between a fifth and nearly all. Counting takes a few milliseconds of PostgreSQL's time.
async function measureDrain(database: Database, groups: ProcessGroups): Promise<Sample> {
  const reached = async (wanted: number) => {
    for (;;) {
      const count = await readValue<number>(database, 'SELECT count(*)::int FROM tasks')
      if (count >= wanted) return { count, at: performance.now(), cpu: readCpu(groups) }
      await sleep(200)
    }
  }
  const begin = await reached(backlog * warmUpShare)
  const end = await reached(backlog * 0.95)
  const count = end.count - begin.count
  return { perSecond: (count / (end.at - begin.at)) * 1_000, cpuUs: cpuPerOperation(begin.cpu, end.cpu, count) }
}

async function holdRate(url: string, text: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 8 })
  const began = performance.now()
  const placed: Promise<unknown>[] = []
  for (let id = 1; id <= perSecond * steadySeconds; id++) {
    await sleep(Math.max(0, began + (id * 1_000) / perSecond - performance.now()))
    placed.push(pool.query({ name: 'place', text, values: [id] }))
  }
  await Promise.all(placed)
  await pool.end()
}

async function readLags(outbox: Database, database: Database): Promise<number[]> {
  const committedAt = 'extract(epoch FROM pg_xact_commit_timestamp(t.xmin))::float8 * 1000 AS ms'
  const orders = await outbox.pool.query<Commit>(`SELECT id::text AS name, ${committedAt} FROM orders AS t`)
  const tasks = `SELECT name, ${committedAt} FROM task_requests AS t WHERE name ~ '^\\d+$'`
  const stored = await waitFor(
    async () => (await database.pool.query<Commit>(tasks)).rows,
    rows => rows.length === orders.rows.length,
    60_000,
  )
  const commits = new Map(orders.rows.map(({ name, ms }) => [name, ms]))
  return stored.map(({ name, ms }) => ms - (commits.get(name) ?? Number.NaN))
}

type Commit = { name: string; ms: number }
