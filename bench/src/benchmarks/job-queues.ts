import { waitFor } from '@belfry/test-support/wait-for'
import { Queue } from 'bullmq'
import { makeWorkerUtils } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import type { Benchmark } from '../benchmark.ts'
import { queueName } from '../lab/child-side.ts'
import { type Database, readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { interleave, ratioOf } from '../measure/statistics.ts'
import { rates, type Sample } from '../measure/window.ts'
import type { Job, JobQueueOptions } from '../programs/job-queue.ts'
import { addCalls, promotedCalls, type Race, runWorker, startWorker } from './dispatch.ts'

/** Races Belfry against job queues that do the same durable job, with the same number of calls in parallel. */
export function jobQueues(concurrency: number): Benchmark {
  return {
    name: `job-queues-${concurrency}`,
    title: `Dispatches against job queues, ${concurrency} calls in parallel`,
    async run(lab, { rounds }) {
      const samples = await interleave(
        {
          belfry: () => promotedCalls(lab, { concurrency, count: 14_000 }),
          bullmq: () => durableCalls(lab, bullmq, { concurrency, count: 8_000 }),
          pgBoss: () => durableCalls(lab, pgBoss, { concurrency, count: 5_000 }),
          graphile: () => durableCalls(lab, graphileWorker, { concurrency, count: 8_000 }),
        },
        rounds,
      )
      const figure = (key: string, queue: string, side: keyof typeof samples) => ({
        key: `dispatch_vs_${key}_${concurrency}`,
        title: `durable dispatches a second / ${queue} with the same job, ${concurrency} in parallel`,
        ...ratioOf(rates(samples.belfry), rates(samples[side])),
      })
      return {
        rounds: samples,
        figures: [
          figure('bullmq', 'BullMQ', 'bullmq'),
          { ...figure('pgboss', 'pg-boss', 'pgBoss'), limit: { atLeast: 2.5 } },
          { ...figure('graphile', 'graphile-worker', 'graphile'), limit: { atLeast: 1.7 } },
        ],
      }
    },
  }
}

type DurableQueue = {
  kind: JobQueueOptions['kind']
  add(lab: Lab, count: number, database: Database): Promise<void>
  jobsLeft(lab: Lab, database: Database): Promise<number>
}

// Every call must be stored as a run.
async function durableCalls(lab: Lab, queue: DurableQueue, { concurrency, count }: Race): Promise<Sample> {
  const database = await lab.freshDatabase()
  try {
    await queue.add(lab, count, database)
    const { id } = await readRow<{ id: string }>(database, 'SELECT id FROM workspaces LIMIT 1')
    lab.target.counter.reset()
    const options = { kind: queue.kind, databaseUrl: database.url, concurrency, workspaceId: id }
    return await runWorker(lab, count, await startWorker(lab, options), async () => {
      const text = `SELECT count(*)::int AS runs FROM runs WHERE status = 'success'`
      await waitFor(
        async () => ({
          ...(await readRow<{ runs: number }>(database, text)),
          left: await queue.jobsLeft(lab, database),
        }),
        ({ runs, left }) => runs === count && left === 0,
        60_000,
      )
    })
  } finally {
    await database.close()
  }
}

const bullmq = {
  kind: 'bullmq' as const,
  add: addCalls,
  async jobsLeft(lab: Lab): Promise<number> {
    const jobs = new Queue(queueName, { connection: { url: lab.redis.url } })
    const left = await jobs.getJobCountByTypes('waiting', 'active', 'delayed')
    await jobs.close()
    return left
  },
}

const pgBoss: DurableQueue = {
  kind: 'pg-boss',
  async add(lab, count, { url, pool }) {
    const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
    await boss.start()
    await boss.createQueue(queueName)
    for (const jobs of inBulks(count, { data: jobOf(lab) })) await boss.insert(queueName, jobs)
    await boss.stop({ graceful: false })
    await pool.query('ANALYZE pgboss.job')
  },
  async jobsLeft(_lab, database) {
    const text = `SELECT count(*)::int AS left FROM pgboss.job WHERE state <> 'completed'`
    return (await readRow<{ left: number }>(database, text)).left
  },
}

const graphileWorker: DurableQueue = {
  kind: 'graphile-worker',
  async add(lab, count, { url, pool }) {
    const utils = await makeWorkerUtils({ connectionString: url })
    await utils.migrate()
    for (const jobs of inBulks(count, { identifier: 'call', payload: jobOf(lab) })) await utils.addJobs(jobs)
    await utils.release()
    await pool.query('ANALYZE graphile_worker._private_jobs')
  },
  async jobsLeft(_lab, database) {
    const text = 'SELECT count(*)::int AS left FROM graphile_worker.jobs'
    return (await readRow<{ left: number }>(database, text)).left
  },
}

function jobOf(lab: Lab): Job {
  return { url: lab.target.url(), body: payload }
}

function inBulks<T>(count: number, job: T): T[][] {
  const bulk = 1_000
  return Array.from({ length: Math.ceil(count / bulk) }, (_, i) =>
    Array.from({ length: Math.min(bulk, count - i * bulk) }, () => job),
  )
}
