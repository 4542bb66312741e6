import { newUuid } from '@belfry/domain'
import pg from 'pg'
import { createCaller } from './callers.ts'

/** What the job of a general job queue carries: the whole request. */
export type DurableJob = { url: string; body: string }

export type DurableJobOptions = { databaseUrl: string; concurrency: number; workspaceId: string }

// As Belfry does, so that the rows of both have the same size.
const requestHeaders = JSON.stringify({ 'content-type': 'application/json', 'user-agent': 'worker/1.0', accept: '*/*' })

const insertRun = `
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                    request_headers, response_status, response_headers, response_body, response_bytes)
  VALUES ($1, $2, $3, 1, 'task', $4, $5, $5, $6, $7, $8, '{}', $9, $10)`

/**
 * Makes the same job for every general job queue: make the call, and keep the attempt as a row of the same table that
 * Belfry keeps it in, by one prepared statement.
 */
export function createDurableJob({ databaseUrl, concurrency, workspaceId }: DurableJobOptions) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  const call = createCaller('undici', concurrency)
  return async (job: DurableJob): Promise<void> => {
    const startedAt = new Date()
    const { status, body } = await call(job)
    const outcome = status === 200 ? 'success' : 'failed'
    const values = [newUuid(), workspaceId, newUuid(), outcome, startedAt, new Date(), requestHeaders, status]
    await pool.query({ name: 'insert_run', text: insertRun, values: [...values, Buffer.from(body), body.length] })
    if (outcome === 'failed') throw new Error(`The target answered with ${status}.`)
  }
}
