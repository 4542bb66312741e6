import { randomBytes, randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { parseCidrs } from '@belfry/domain/address'
import { toId } from '@belfry/domain/id'
import type { DueTask } from '@belfry/queue'
import { openDispatchQueue } from '@belfry/queue/dispatch-queue'
import { createLogger, openHost } from '@belfry/runtime'
import { borrowTestDatabase, testRedisUrl } from '@belfry/test-support'
import { loadConfig } from '../../src/config.ts'
import { startDispatcher } from '../../src/start-dispatcher.ts'

/** Tasks to store: how many, when they are due from now, and what they call. */
export type StoredTasks = { count: number; workspace: string; url: string; dueInMs: number; timeoutMs?: number }

export type IntakeTest = {
  pool: Pool
  databaseUrl: string
  /** Adds the jobs of tasks. Without a Redis it does nothing: dispatchers find them. */
  schedule(tasks: readonly DueTask[]): Promise<void>
  /** Stores tasks as the API does and hands none of them to the queue. */
  store(tasks: StoredTasks): Promise<DueTask[]>
  /** Starts a dispatcher; what it returns stops it as SIGTERM does. */
  start(env?: Record<string, string>): Promise<() => Promise<void>>
  close(): Promise<void>
}

const partSize = 10_000

/**
 * A database without rows, its own queue, and any number of dispatchers on them in this process.
 * @param borrow - Returns the database. Default: one of the server that all tests share.
 */
export async function setupIntake(
  backend: 'redis' | 'postgres',
  redisDatabase: number,
  borrow: typeof borrowTestDatabase = borrowTestDatabase,
): Promise<IntakeTest> {
  const database = await borrow()
  const onError = (error: Error) => console.error(error)
  const pool = openPool(database.url, { max: 8, onError })
  const redisUrl = backend === 'redis' ? `${testRedisUrl()}/${redisDatabase}` : null
  const connection = redisUrl === null ? null : { redisUrl, onError }
  const queue = connection && openDispatchQueue(connection)
  const keys = { ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
  const running = new Set<() => Promise<void>>()
  return {
    pool,
    databaseUrl: database.url,
    schedule: async tasks => queue?.schedule(tasks, Date.now()),
    store: tasks => store(pool, tasks),
    async start(env = {}) {
      const stop = new AbortController()
      setMaxListeners(0, stop.signal) // each chore listens
      const urls = { DATABASE_URL: database.url, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) }
      const config = loadConfig({ ...urls, ...keys, METRICS_PORT: '0', ...env })
      const allowed = { ...config, allowedPrivateTargets: parseCidrs('127.0.0.0/8') }
      const log = createLogger('dispatcher', 'silent')
      const host = await openHost(log, stop.signal, {
        roles: ['dispatcher'],
        operatorListen: config.operatorListen,
        traces: false,
      })
      const service = await startDispatcher(allowed, log, host)
      const end = async () => {
        if (!running.delete(end)) return
        stop.abort()
        await service.drain()
        await host.close()
      }
      running.add(end)
      return end
    },
    async close() {
      await Promise.all([...running].map(end => end()))
      await queue?.close()
      await pool.end()
      database.giveBack()
    },
  }
}

// In parts, each of which takes less time than a statement may.
async function store(pool: Pool, tasks: StoredTasks): Promise<DueTask[]> {
  await storeWorkspace(pool, tasks.workspace)
  const stored: DueTask[] = []
  for (let left = tasks.count; left > 0; left -= partSize) {
    stored.push(...(await storePart(pool, { ...tasks, count: Math.min(left, partSize) })))
  }
  return stored
}

async function storePart(pool: Pool, { count, workspace, url, dueInMs, timeoutMs = 5_000 }: StoredTasks) {
  const text = `
    WITH made AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
      SELECT uuid_v7(clock_timestamp()), $2, 'event', at, at
      FROM (SELECT clock_timestamp() + $3 * interval '1 millisecond' AS at) s, generate_series(1, $1)
      RETURNING id, due_at
    ), requested AS (
      INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
      SELECT id, 'A task', $4, 'POST', 0, 'fixed', 60000, 60000, $5 FROM made
    )
    SELECT id, due_at AS "dueAt" FROM made`
  const { rows } = await pool.query<{ id: string; dueAt: Date }>(text, [count, workspace, dueInMs, url, timeoutMs])
  const origin = new URL(url).origin
  return rows.map(({ id, dueAt }) => {
    return { id: toId('task', id), dueAt: dueAt.getTime(), workspace: toId('ws', workspace), origin }
  })
}

// Its deliveries are signed with secrets of its own, so there has to be one.
async function storeWorkspace(pool: Pool, id: string): Promise<void> {
  const organization = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $2, 'unicorn') ON CONFLICT DO NOTHING`
  await pool.query(organization, [id, id])
  const workspace = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $1, 'A') ON CONFLICT DO NOTHING`
  await pool.query(workspace, [id])
}

/** A workspace that tasks can be stored for. */
export const aWorkspace = () => randomUUID()

/** How late the attempts of a workspace started, in milliseconds, the earliest first. */
export async function lagsOf(pool: Pool, workspace: string): Promise<number[]> {
  const text = `
    SELECT extract(epoch FROM started_at - scheduled_at)::float8 * 1000 AS lag FROM runs
    WHERE workspace_id = $1 ORDER BY lag`
  const { rows } = await pool.query<{ lag: number }>(text, [workspace])
  return rows.map(({ lag }) => lag)
}
