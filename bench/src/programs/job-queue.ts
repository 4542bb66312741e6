// A worker of a job queue. With a workspace it makes the durable call of all job queues; without one it is the floor,
// which stores nothing. With an endpoint it is a small installation in one process.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { newUuid } from '@belfry/domain/id'
import pg from 'pg'
import { Agent, request } from 'undici'
import { parentSaysGo, queueName, startAsChild } from '../lab/child-side.ts'

/** The data of a job: the whole request. */
export type Job = { url: string; body: string }

export type JobQueueOptions = {
  kind: 'bullmq' | 'pg-boss' | 'graphile-worker'
  redisUrl: string
  databaseUrl: string
  concurrency: number
  workspaceId?: string
  endpoint?: { port: number; key: string }
}

const { kind, databaseUrl, redisUrl, concurrency, workspaceId, endpoint } = startAsChild<JobQueueOptions>()
const perform = createJob()
const start = { bullmq: startBullmq, 'pg-boss': startPgBoss, 'graphile-worker': startGraphileWorker }
await start[kind]()

async function startBullmq(): Promise<void> {
  const { Queue, Worker } = await import('bullmq')
  const worker = new Worker<Job>(queueName, job => perform(job.data), {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    concurrency,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    autorun: false,
  })
  worker.on('error', error => console.error(error))
  worker.on('failed', (_, error) => console.error(error))
  await worker.waitUntilReady()
  if (endpoint) {
    const queue = new Queue<Job>(queueName, { connection: { url: redisUrl } })
    await serveEvents(endpoint, job => queue.add('call', job))
  }
  await parentSaysGo()
  await worker.run()
}

async function startPgBoss(): Promise<void> {
  const { PgBoss } = await import('pg-boss')
  const batchSize = 25
  const forRace = { supervise: false }
  const forEvents = { useListenNotify: true }
  const shared = { connectionString: databaseUrl, max: 10, schedule: false }
  const boss = new PgBoss({ ...shared, ...(endpoint ? forEvents : forRace) })
  boss.on('error', error => console.error(error))
  await boss.start()
  if (endpoint) {
    await boss.createQueue(queueName, { notify: true })
    await serveEvents(endpoint, job => boss.send(queueName, job))
  }
  // Several workers share the calls of a race. A worker with a full batch fetches the next one at once, so polling never
  // waits while there is work. A notification wakes every worker, so a small installation has one.
  const workers = { localConcurrency: Math.max(1, Math.round(concurrency / batchSize)), pollingIntervalSeconds: 0.5 }
  await parentSaysGo()
  await boss.work<Job>(queueName, { batchSize, burstWhenBatchFull: true, ...(endpoint ? {} : workers) }, async jobs => {
    await Promise.all(jobs.map(job => perform(job.data)))
  })
}

async function startGraphileWorker(): Promise<void> {
  const { Logger, run } = await import('graphile-worker')
  const worker = {
    connectionString: databaseUrl,
    concurrentJobs: concurrency,
    maxPoolSize: 10,
    pollInterval: 500,
    localQueue: { size: 500 },
    completeJobBatchDelay: 5,
    failJobBatchDelay: 5,
    logger: new Logger(() => () => {}), // by default it writes a line for each job
  }
  await parentSaysGo()
  await run({ preset: { worker }, taskList: { call: job => perform(job as Job) } }) // as the bench has added it
}

/** Returns a function that makes the call of a job and stores it, by one prepared statement, where Belfry stores its runs. */
function createJob(): (job: Job) => Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const dispatcher = new Agent({ connections: concurrency, pipelining: 1, keepAliveTimeout: 30_000 })
  const pool = workspaceId === undefined ? null : new pg.Pool({ connectionString: databaseUrl, max: 10 })
  // Those of Belfry, so the rows of both have the same size.
  const sent = JSON.stringify({ 'content-type': 'application/json', 'user-agent': 'worker/1.0', accept: '*/*' })
  const insertRun = `
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      request_headers, response_status, response_headers, response_body, response_bytes)
    VALUES ($1, $2, $3, 1, 'task', $4, $5, $5, $6, $7, $8, '{}', $9, $10)`
  return async ({ url, body }) => {
    const startedAt = new Date()
    const { statusCode: status, body: stream } = await request(url, { method: 'POST', headers, body, dispatcher })
    const answer = await stream.text()
    const outcome = status === 200 ? 'success' : 'failed'
    if (pool) {
      const values = [newUuid(), workspaceId, newUuid(), outcome, startedAt, new Date(), sent, status]
      await pool.query({ name: 'insert_run', text: insertRun, values: [...values, Buffer.from(answer), answer.length] })
    }
    if (outcome === 'failed') throw new Error(`The target answered with ${status}.`)
  }
}

// `POST /api/events` as a team would write it in front of a job queue. It looks up the hash of the API key in memory, and
// answers 202 once the queue has the job.
async function serveEvents(
  { port, key }: { port: number; key: string },
  enqueue: (job: Job) => Promise<unknown>,
): Promise<void> {
  const hashOf = (given: string) => createHash('sha256').update(given).digest('base64')
  const keys = new Set([hashOf(key)])
  const server = createServer(async (incoming, response) => {
    if (incoming.method !== 'POST' || incoming.url !== '/api/events') return response.writeHead(404).end()
    if (!keys.has(hashOf(String(incoming.headers['x-api-key'])))) return response.writeHead(401).end()
    try {
      const event = JSON.parse(await text(incoming)) as { target_url: string; payload: unknown } // as the load sends it
      await enqueue({ url: event.target_url, body: JSON.stringify(event.payload) })
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"ok":true}')
    } catch (error) {
      console.error(error)
      response.writeHead(500).end()
    }
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
}
