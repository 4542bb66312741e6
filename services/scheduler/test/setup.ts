import { randomBytes, randomUUID } from 'node:crypto'
import { openDatabaseClock } from '@belfry/db/postgres/database-clock'
import { openPool } from '@belfry/db/postgres/pool'
import { insertTasks, type NewTask } from '@belfry/db/tasks/insert-tasks'
import { defaultTiers } from '@belfry/domain/tiers'
import { type DispatchQueue, openDispatchQueue } from '@belfry/queue/dispatch-queue'
import { createLogger, openMeter } from '@belfry/runtime'
import { borrowTestDatabase, testRedisUrl } from '@belfry/test-support'
import type { Context, QueueContext } from '../src/context.ts'
import { createLiveness } from '../src/liveness.ts'
import { openMetrics } from '../src/metrics.ts'

/** Opens a context on a database without rows, and without a queue. */
export async function openTestContext(): Promise<Context> {
  const database = await borrowTestDatabase()
  const onError = (error: Error) => console.error(error)
  const pool = openPool(database.url, { max: 8, onError })
  return {
    log: createLogger('scheduler', 'silent'),
    tiers: defaultTiers,
    publicUrl: 'http://belfry.test',
    auditLogFile: null,
    pool,
    backgroundPool: pool,
    clock: await openDatabaseClock(pool),
    queue: null,
    logStorage: null,
    legalHold: [],
    metrics: openMetrics(openMeter('scheduler')),
    liveness: createLiveness(() => performance.now()),
    async close() {
      await pool.end()
      database.giveBack()
    },
  }
}

/** Opens a context with its own queue, and records the ids of the scheduled tasks. */
export async function openTestQueue() {
  const prefix = `{test-${randomBytes(4).toString('hex')}}`
  const connection = { redisUrl: testRedisUrl() ?? '', prefix, onError: (error: Error) => console.error(error) }
  const queue: DispatchQueue = openDispatchQueue(connection)
  const scheduled: string[] = []
  const without = await openTestContext()
  const ctx: QueueContext = {
    ...without,
    queue: {
      ...queue,
      async schedule(tasks, now) {
        await queue.schedule(tasks, now)
        scheduled.push(...tasks.map(({ id }) => id))
      },
    },
    async close() {
      await queue.close()
      await without.close()
    },
  }
  return { ctx, connection, scheduled }
}

/** Stores a workspace and its organization. */
export async function storeWorkspace({ pool }: Context): Promise<string> {
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  const organization = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $2, 'free')`
  await pool.query(organization, [organizationId, organizationId])
  const workspace = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`
  await pool.query(workspace, [workspaceId, organizationId])
  return workspaceId
}

/** Stores tasks that are due the given milliseconds from now; negative numbers are in the past. */
export async function storeTasks(ctx: Context, dueInMs: number[]): Promise<string[]> {
  const tasks = dueInMs.map(() => newTask())
  await insertTasks(ctx.pool, tasks)
  for (const [i, ms] of dueInMs.entries()) {
    const text = `UPDATE tasks SET due_at = now() + $2 * interval '1 millisecond' WHERE id = $1`
    await ctx.pool.query(text, [tasks[i]?.id, ms])
  }
  return tasks.map(({ id }) => id)
}

/** Stores `count` tasks of `workspaces` workspaces, one per millisecond from `dueInMs` on. */
export async function storeManyTasks({ pool }: Context, count: number, dueInMs: number, workspaces = 1): Promise<void> {
  const ids = Array.from({ length: workspaces }, () => randomUUID())
  await pool.query('INSERT INTO organizations (id, name, slug, tier) VALUES ($1, $2, $2, $3)', [ids[0], ids[0], 'free'])
  await pool.query(`INSERT INTO workspaces (id, organization_id, name) SELECT w, $2, 'A' FROM unnest($1::uuid[]) w`, [
    ids,
    ids[0],
  ])
  const text = `
    WITH made AS (
      INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
      SELECT uuid_v7(clock_timestamp()), ($1::uuid[])[1 + i % cardinality($1::uuid[])], 'event', at, at
      FROM (SELECT i, now() + ($3::float8 + least(i, 4000)) * interval '1 millisecond' AS at FROM generate_series(1, $2) i) s
      RETURNING id
    )
    INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
    SELECT id, 'A task', 'https://example.com/', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`
  await pool.query(text, [ids, count, dueInMs])
}

function newTask(): NewTask {
  return {
    id: randomUUID(),
    workspaceId: randomUUID(),
    source: 'event',
    executeAt: null,
    name: 'A task',
    url: 'https://example.com/',
    method: 'POST',
    headers: '{}',
    payload: null,
    maxRetries: 5,
    backoff: 'fixed',
    baseDelayMs: 1000,
    maxDelayMs: 1000,
    timeoutMs: 1000,
    topic: null,
    eventId: null,
    replayOf: null,
  }
}
