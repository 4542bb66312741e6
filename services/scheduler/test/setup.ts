import { randomBytes, randomUUID } from 'node:crypto'
import { insertTasks, type NewTask, openPool } from '@belfry/db'
import { defaultTiers } from '@belfry/domain'
import { openDeadLetterQueue, openDispatchQueue, openOutboxQueue } from '@belfry/queue'
import { createLogger, openMeter } from '@belfry/runtime'
import { createTestDatabase, testRedisUrl } from '@belfry/testing'
import type { Context } from '../src/context.ts'
import { openMetrics } from '../src/metrics.ts'

/** A scheduler's context on a database and a queue of its own, and the jobs that the queue has been given. */
export async function openTestContext(backend: 'redis' | 'postgres') {
  const database = await createTestDatabase()
  const onError = (error: Error) => console.error(error)
  const pool = openPool(database.url, { max: 8, onError })
  const redisUrl = backend === 'redis' ? testRedisUrl() : null
  const connection = {
    redisUrl,
    databaseUrl: database.url,
    prefix: `{test-${randomBytes(4).toString('hex')}}`,
    onError,
  }
  const queue = openDispatchQueue(connection)
  const deadLetters = openDeadLetterQueue(connection)
  const outbox = openOutboxQueue(connection)
  const scheduled: string[] = []
  const ctx: Context = {
    log: createLogger('scheduler', 'silent'),
    tiers: defaultTiers,
    publicUrl: 'http://belfry.test',
    pool,
    queue: {
      ...queue,
      async schedule(tasks, now) {
        await queue.schedule(tasks, now)
        scheduled.push(...tasks.map(({ id }) => id))
      },
    },
    deadLetters,
    outbox,
    metrics: openMetrics(openMeter('scheduler')),
    async close() {
      await Promise.all([queue.close(), deadLetters.close(), outbox.close()])
      await pool.end()
      await database.drop()
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

/** Stores tasks that are due so many milliseconds from now; a negative number is in the past. */
export async function storeTasks(ctx: Context, dueInMs: number[]): Promise<string[]> {
  const tasks = dueInMs.map(() => newTask())
  await insertTasks(ctx.pool, tasks)
  for (const [i, ms] of dueInMs.entries()) {
    const text = `UPDATE tasks SET due_at = now() + $2 * interval '1 millisecond' WHERE id = $1`
    await ctx.pool.query(text, [tasks[i]?.id, ms])
  }
  return tasks.map(({ id }) => id)
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
