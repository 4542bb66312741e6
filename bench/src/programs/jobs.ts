import { newUuid } from '@belfry/domain'
import pg from 'pg'
import { Agent, request } from 'undici'

/** The data of a job: the whole request. */
export type Job = { url: string; body: string }

export type PerformJob = (job: Job) => Promise<void>

export type DurableJobOptions = { databaseUrl: string; concurrency: number; workspaceId: string }

/** Returns a function that makes the call of a job and stores nothing. */
export function createPlainJob(concurrency: number): PerformJob {
  const call = createCaller(concurrency)
  return async job => {
    const { status } = await call(job)
    if (status !== 200) throw new Error(`The target answered with ${status}.`)
  }
}

// Those of Belfry, so the rows of both have the same size.
const requestHeaders = JSON.stringify({ 'content-type': 'application/json', 'user-agent': 'worker/1.0', accept: '*/*' })

const insertRun = `
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                    request_headers, response_status, response_headers, response_body, response_bytes)
  VALUES ($1, $2, $3, 1, 'task', $4, $5, $5, $6, $7, $8, '{}', $9, $10)`

/**
 * Returns a function that makes the call of a job and stores the attempt, by one prepared statement, in the table that
 * Belfry stores it in. All job queues run this one.
 */
export function createDurableJob({ databaseUrl, concurrency, workspaceId }: DurableJobOptions): PerformJob {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  const call = createCaller(concurrency)
  return async job => {
    const startedAt = new Date()
    const { status, body } = await call(job)
    const outcome = status === 200 ? 'success' : 'failed'
    const values = [newUuid(), workspaceId, newUuid(), outcome, startedAt, new Date(), requestHeaders, status]
    await pool.query({ name: 'insert_run', text: insertRun, values: [...values, Buffer.from(body), body.length] })
    if (outcome === 'failed') throw new Error(`The target answered with ${status}.`)
  }
}

// Keep-alive connections, as many as there are calls in parallel.
function createCaller(concurrency: number): (job: Job) => Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/json' }
  const dispatcher = new Agent({ connections: concurrency, pipelining: 1, keepAliveTimeout: 30_000 })
  return async ({ url, body }) => {
    const answer = await request(url, { method: 'POST', headers, body, dispatcher })
    return { status: answer.statusCode, body: await answer.body.text() }
  }
}
