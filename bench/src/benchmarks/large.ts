import { openPool } from '@belfry/db'
import type { Benchmark, Figure } from '../benchmark.ts'
import { createApiKey, startBelfry } from '../lab/belfry.ts'
import { connectTo, createDatabase } from '../lab/database.ts'
import { fillDatabase, type Stored } from '../lab/fill-database.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { measured, quantile, ratioOf } from '../measure/statistics.ts'
import { measureStatements, type Operation, type StatementSample } from '../sides/statements.ts'

const almostEmpty: Stored = { waiting: 1_000, runs: 1_000, workspaces: 10, cronJobs: 10 }

/** The statements whose CPU must not grow with the database, and the unit of each ratio. */
const limited: Partial<Record<Operation, string>> = {
  create: 'a task created that is due within an hour',
  createApart: 'a task created that is due at a random time of the year',
  claim: 'a task claimed',
  record: 'a run recorded',
  promote: 'a task read for the queue',
  cancel: 'a page of 500 tasks in a cancel by filter',
  retention: 'a run deleted with its task',
  storage: 'a storage delta counted',
  usage: 'the usage of an organization read',
}
const maxRatio = 1.15
const maxPageMs = 50
const maxChoreMs = 1_000

/** First pages of lists, and pages that group what they read, which have no limit. */
const lists = [
  'tasks',
  'tasks?state=pending',
  'tasks?state=success',
  'tasks?state=dead',
  'runs',
  'runs?status=failed',
  'runs?response_status=500',
  'runs?name=Task%201',
  'tasks?name=None',
  'dead-letters',
  'cronjobs',
  'queues',
]
const summaries = ['overview', 'runs/failures', 'hosts', 'search?q=Task', 'tasks/count']
const pages = [...lists, ...summaries]

/** Compares the statements of the engine in a database with a month of history with those in an almost empty one. */
export const large: Benchmark = {
  name: 'large',
  title: 'A large database against an almost empty one',
  async run(lab, { rounds, tasks }) {
    const filled: Stored = { waiting: tasks, runs: tasks, workspaces: tasks / 2_000, cronJobs: tasks / 200 }
    const small = await openSide(lab, 'large_small', almostEmpty)
    const big = await openSide(lab, 'large_big', filled)
    const samples = await interleave(
      { small: () => measureSide(lab, small), large: () => measureSide(lab, big) },
      rounds,
    )
    const operations = Object.keys(samples.large[0]?.statements ?? {}) as Operation[]
    const of = (side: 'small' | 'large', operation: Operation, part: keyof StatementSample) =>
      samples[side].map(({ statements }) => statements[operation][part])
    return {
      rounds: samples,
      figures: [
        ...operations.map((operation): Figure => {
          const what = limited[operation]
          if (what === undefined) {
            const title = `slowest call of ${operation}`
            const slowest = measured(of('large', operation, 'maxMs'))
            return { key: `large_${operation}`, title, unit: 'ms', ...slowest, limit: { atMost: maxChoreMs } }
          }
          const ratio = ratioOf(of('large', operation, 'cpuUs'), of('small', operation, 'cpuUs'))
          const title = `PostgreSQL's CPU of ${what}, large / almost empty`
          return { key: `large_${operation}`, title, ...ratio, limit: { atMost: maxRatio } }
        }),
        ...pages.map((page, i): Figure => {
          const title = `first page of ${page}, median`
          const medians = measured(samples.large.map(({ pageMs }) => pageMs[i] ?? Number.NaN))
          return {
            key: `large_page_${page.replace(/\W+/g, '_')}`,
            title,
            unit: 'ms',
            ...medians,
            ...(i < lists.length && { limit: { atMost: maxPageMs } }),
          }
        }),
        {
          key: 'large_startup',
          title: 'time until all services answer, large / almost empty',
          ...ratioOf(
            samples.large.map(({ startMs }) => startMs),
            samples.small.map(({ startMs }) => startMs),
          ),
          limit: { atMost: maxRatio },
        },
      ],
      notes: [
        `${filled.waiting} waiting tasks, ${filled.runs} runs with their tasks, ${filled.workspaces} workspaces, ` +
          `${filled.cronJobs} cron jobs: ${(await sizeOf(big)) / 1e9} GB, filled in ${Math.round(big.fillMs / 1000)} s`,
      ],
    }
  },
}

type Side = { url: string; key: string; fillMs: number }

async function openSide(lab: Lab, name: string, stored: Stored): Promise<Side> {
  await createDatabase(lab.postgres, name)
  const url = lab.postgres.url(name)
  const belfry = await startBelfry(lab, { url }, { services: ['api'] })
  const key = await createApiKey(belfry.apiUrl)
  await belfry.stop()
  const began = performance.now()
  await fillDatabase(url, stored, lab.folder)
  return { url, key, fillMs: performance.now() - began }
}

async function measureSide(lab: Lab, { url, key }: Side) {
  const statements = await inPool(url, async pool => measureStatements(pool, await firstWorkspaces(url)))
  await lab.redis.client.flushall()
  const began = performance.now()
  const belfry = await startBelfry(lab, { url }, { services: ['all-in-one'] })
  try {
    const startMs = performance.now() - began
    const pageMs: number[] = []
    for (const page of pages) pageMs.push(await medianOf(`${belfry.apiUrl}/api/v1/scheduler/${page}`, key))
    return { statements, startMs, pageMs }
  } finally {
    await belfry.stop()
  }
}

async function inPool<T>(url: string, run: (pool: ReturnType<typeof openPool>) => Promise<T>): Promise<T> {
  const pool = openPool(url, { max: 1, onError: () => {} })
  try {
    return await run(pool)
  } finally {
    await pool.end()
  }
}

// The workspace of the API key, which has the most rows, and those of the template.
async function firstWorkspaces(url: string): Promise<string[]> {
  const { pool, close } = connectTo(url)
  try {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM workspaces w
       ORDER BY NOT EXISTS (SELECT FROM api_keys k WHERE k.workspace_id = w.id), created_at, id LIMIT 9`,
    )
    return rows.map(({ id }) => id)
  } finally {
    await close()
  }
}

async function medianOf(address: string, key: string): Promise<number> {
  const elapsed: number[] = []
  for (let i = 0; i < 9; i++) {
    const began = performance.now()
    const response = await fetch(address, { headers: { 'X-Api-Key': key } })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`GET ${address} was answered with ${response.status}.`)
    elapsed.push(performance.now() - began)
  }
  return quantile(elapsed, 0.5)
}

async function sizeOf({ url }: Side): Promise<number> {
  const { pool, close } = connectTo(url)
  try {
    const { rows } = await pool.query<{ size: number }>('SELECT pg_database_size(current_database())::float8 AS size')
    return rows[0]?.size ?? 0
  } finally {
    await close()
  }
}
