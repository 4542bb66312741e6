import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TierName } from '@belfry/domain/tiers'
import { borrowTestDatabase, createTestDatabase } from '@belfry/test-support'
import { afterAll, beforeAll } from 'vitest'
import { openPool, type Pool } from '../src/postgres/pool.ts'
import type { Claim, ClaimedTask } from '../src/tasks/claimed-row.ts'
import { insertTasks, type NewTask } from '../src/tasks/insert-tasks.ts'
import type { FinishedAttempt } from '../src/tasks/record-attempts.ts'
import { claimTasks } from './claim-tasks.ts'

/** Gives a test file a database without rows, which other files have used. */
export function useDatabase(): { readonly pool: Pool } {
  return usePool(async () => {
    const { url, giveBack } = await borrowTestDatabase()
    return { url, release: giveBack }
  })
}

/** Gives a test file its own database, because it stores many rows, changes more than rows, or reads plans or partitions. */
export function useOwnDatabase(): { readonly pool: Pool } {
  return usePool(async () => {
    const { url, drop } = await createTestDatabase()
    return { url, release: drop }
  })
}

function usePool(open: () => Promise<{ url: string; release(): unknown }>): { readonly pool: Pool } {
  let pool: Pool
  let release: () => unknown
  beforeAll(async () => {
    const database = await open()
    release = database.release
    pool = openPool(database.url, { max: 8, onError: error => console.error(error) })
  })
  afterAll(async () => {
    await pool.end()
    await release()
  })
  return {
    get pool() {
      return pool
    },
  }
}

/** Returns a task that is due now, in a workspace of its own. */
export function aTask(changes: Partial<NewTask> = {}): NewTask {
  return {
    id: randomUUID(),
    workspaceId: randomUUID(),
    source: 'event',
    executeAt: null,
    name: 'A task',
    url: 'https://example.com/hook',
    method: 'POST',
    headers: '{"X-Own":"1"}',
    payload: '{"n":12345678901234567890}',
    maxRetries: 2,
    backoff: 'fixed',
    baseDelayMs: 1000,
    maxDelayMs: 1000,
    timeoutMs: 5000,
    topic: null,
    eventId: null,
    replayOf: null,
    ...changes,
  }
}

/** The dispatcher of tests that are not about dispatchers. */
export const claimant = { dispatcherId: randomUUID() }

/** Claims tasks, each with a new token. */
export function claimAll(pool: Pool, ids: string[]): Promise<Claim[]> {
  return claimTasks(
    pool,
    claimant,
    ids.map(taskId => ({ taskId, token: randomUUID() })),
  )
}

/** Claims a task that is due now. Its time is rounded, so it may be due in the next millisecond. */
export async function claimOne(pool: Pool, id: string): Promise<ClaimedTask> {
  await sleep(2)
  const [claim] = await claimAll(pool, [id])
  if (claim?.kind !== 'claimed') throw new Error(`Not claimed but ${claim?.kind}.`)
  return claim.task
}

/** Stores a task and claims it. */
export async function claimNew(pool: Pool, changes: Partial<NewTask> = {}): Promise<ClaimedTask> {
  const task = aTask(changes)
  await insertTasks(pool, [task])
  return claimOne(pool, task.id)
}

/** Returns the outcome of an attempt that succeeded after 12 ms, with changes. */
export function finished(task: ClaimedTask, changes: Partial<FinishedAttempt> = {}): FinishedAttempt {
  return {
    ...{ taskId: task.taskId, runId: task.runId, state: 'success', retryDelayMs: null, status: 'success' },
    ...{ scheduledAt: task.scheduledAt, startedAt: task.claimedAt },
    finishedAt: new Date(task.claimedAt.getTime() + 12),
    ...{ requestHeaders: '{}', responseStatus: 200, responseHeaders: '{"content-type":"text/plain"}' },
    ...{ responseBody: Buffer.from('ok'), responseBytes: 2, responseTruncated: false },
    ...{ errorCode: null, errorMessage: null },
    ...changes,
  }
}

export async function taskRow(pool: Pool, id: string) {
  const { rows } = await pool.query('SELECT * FROM tasks JOIN task_requests ON task_id = id WHERE id = $1', [id])
  return rows[0]
}

export async function runRows(pool: Pool, taskId: string) {
  const { rows } = await pool.query('SELECT * FROM runs WHERE task_id = $1 ORDER BY id', [taskId])
  return rows
}

/** Creates an organization with one workspace. */
export async function aWorkspace(pool: Pool): Promise<string> {
  return (await anOrganization(pool)).workspaceId
}

/** Creates an organization of a tier with one workspace. */
export async function anOrganization(
  pool: Pool,
  tier: TierName = 'free',
): Promise<{ organizationId: string; workspaceId: string }> {
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  const text = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'A', $2, $3)`
  await pool.query(text, [organizationId, organizationId, tier])
  await addWorkspace(pool, organizationId, workspaceId)
  return { organizationId, workspaceId }
}

/** Adds a workspace to an organization. */
export async function addWorkspace(pool: Pool, organizationId: string, workspaceId = randomUUID()): Promise<string> {
  const text = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`
  await pool.query(text, [workspaceId, organizationId])
  return workspaceId
}

/** Creates the partition of a past month of runs, if it is not there, and returns its name. */
export async function addMonth(pool: Pool, monthsAgo: number): Promise<string> {
  const { rows } = await pool.query(
    `SELECT 'runs_' || to_char(month, 'YYYY_MM') AS name, uuid_v7_floor(month) AS first,
            uuid_v7_floor(month + interval '1 month') AS next
     FROM (SELECT date_trunc('month', now(), 'UTC') - $1 * interval '1 month' AS month) m`,
    [monthsAgo],
  )
  const { name, first, next } = rows[0]
  // It is there when a month has begun since the migrations ran.
  const text = `CREATE TABLE IF NOT EXISTS run_partitions.${name} PARTITION OF runs FOR VALUES FROM ('${first}') TO ('${next}')`
  await pool.query(text)
  return name
}
