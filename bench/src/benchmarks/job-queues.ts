import { waitFor } from '@belfry/test-support/wait-for'
import { Queue } from 'bullmq'
import { makeWorkerUtils } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import type { Benchmark } from '../benchmark.ts'
import { queueName } from '../lab/child-side.ts'
import { type Database, readValue } from '../lab/database.ts'
import { inFreshDatabase, type Lab } from '../lab/lab.ts'
import { payload, requireRuns } from '../lab/tasks.ts'
import { interleave, ratioOf } from '../measure/statistics.ts'
import { rates, type Sample } from '../measure/window.ts'
import type { Job, JobQueueOptions } from '../programs/job-queue.ts'
import { addBullmqJobs, measureWorker, promotedCalls, type Race } from './dispatch.ts'

/** Races Belfry against job queues that do the same durable job, with the same number of calls in parallel. */
export function jobQueues(concurrency: number): Benchmark {
  return {
    name: `job-queues-${concurrency}`,
    title: `Dispatches against job queues, ${concurrency} calls in parallel`,
    async run(lab, { rounds }) {
      const durable = (queue: DurableQueue, count: number) =>
        inFreshDatabase(lab, database => durableCalls(lab, database, queue, { concurrency, count }))
      const samples = await interleave(
        {
          belfry: inFreshDatabase(lab, database => promotedCalls(lab, database, { concurrency, count: 14_000 })),
          bullmq: durable(bullmq, 8_000),
          pgBoss: durable(pgBoss, 5_000),
          graphile: durable(graphileWorker, 8_000),
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
async function durableCalls(lab: Lab, database: Database, queue: DurableQueue, race: Race): Promise<Sample> {
  const { concurrency, count } = race
  await queue.add(lab, count, database)
  const options: JobQueueOptions = {
    kind: queue.kind,
    redisUrl: lab.redis.url,
    databaseUrl: database.url,
    concurrency,
    workspaceId: await readValue(database, 'SELECT id FROM workspaces LIMIT 1'),
  }
  await using worker = await lab.startProgram('job-queue', options)
  const sample = await measureWorker(lab, count, worker)
  await requireRuns(database, count)
  const jobsLeft = () => queue.jobsLeft(lab, database)
  await waitFor(jobsLeft, left => left === 0, 60_000)
  return sample
}

const bullmq: DurableQueue = {
  kind: 'bullmq',
  add: (lab, count) => addBullmqJobs(lab, count),
  async jobsLeft(lab) {
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
    await inBulks(count, { data: jobOf(lab) }, jobs => boss.insert(queueName, jobs))
    await boss.stop({ graceful: false })
    await pool.query('ANALYZE pgboss.job')
  },
  jobsLeft: (_lab, database) => readValue(database, `SELECT count(*)::int FROM pgboss.job WHERE state <> 'completed'`),
}

const graphileWorker: DurableQueue = {
  kind: 'graphile-worker',
  async add(lab, count, { url, pool }) {
    const utils = await makeWorkerUtils({ connectionString: url })
    await utils.migrate()
    await inBulks(count, { identifier: 'call', payload: jobOf(lab) }, jobs => utils.addJobs(jobs))
    await utils.release()
    await pool.query('ANALYZE graphile_worker._private_jobs')
  },
  jobsLeft: (_lab, database) => readValue(database, 'SELECT count(*)::int FROM graphile_worker.jobs'),
}

// All jobs are the same.
async function inBulks<T>(count: number, job: T, add: (jobs: T[]) => Promise<unknown>): Promise<void> {
  const bulk = 1_000
  for (let added = 0; added < count; added += bulk) await add(Array(Math.min(bulk, count - added)).fill(job))
}

function jobOf(lab: Lab): Job {
  return { url: lab.target.url(), body: payload }
}
