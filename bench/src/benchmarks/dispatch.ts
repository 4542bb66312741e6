import { toId } from '@belfry/domain/id'
import { originOfUrl } from '@belfry/domain/target-url'
import { openDispatchQueue } from '@belfry/queue/dispatch-queue'
import { cpuPerOperation, type ProcessGroups, type Reading, readCpu } from '@belfry/test-support/proc'
import { Queue } from 'bullmq'
import type { Benchmark } from '../benchmark.ts'
import { type ServiceName, startBelfry } from '../lab/belfry.ts'
import type { Child } from '../lab/child-process.ts'
import { queueName } from '../lab/child-side.ts'
import type { Database } from '../lab/database.ts'
import { inFreshDatabase, type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { forgetTasks, payload, promote, requireRecorded, type StoredTask, storeTasks } from '../lab/tasks.ts'
import { interleave, ratioOf } from '../measure/statistics.ts'
import { measureWindow, rates, type Sample, totalCpuUs, warmUpShare } from '../measure/window.ts'
import type { Job, JobQueueOptions } from '../programs/job-queue.ts'

/** `count` calls that are all due, at most `concurrency` of them in parallel. */
export type Race = { concurrency: number; count: number }

/** Races Belfry against the floor, with the same number of calls in parallel. */
export function dispatch(concurrency: number): Benchmark {
  return {
    name: `dispatch-${concurrency}`,
    title: `Dispatches against the floor, ${concurrency} calls in parallel`,
    async run(lab, { rounds }) {
      const samples = await interleave(
        {
          floor: () => floor(lab, { concurrency, count: 12_000 }),
          promoted: inFreshDatabase(lab, database => promotedCalls(lab, database, { concurrency, count: 16_000 })),
          single: inFreshDatabase(lab, database => singleCalls(lab, database, { concurrency, count: 10_000 })),
          noRedis: inFreshDatabase(lab, database => callsWithoutRedis(lab, database, { concurrency, count: 12_000 })),
        },
        rounds,
      )
      const parallel = `${concurrency} in parallel`
      return {
        rounds: samples,
        figures: [
          {
            key: `dispatch_vs_floor_${concurrency}`,
            title: `durable dispatches a second / BullMQ + undici that stores nothing, ${parallel}`,
            ...ratioOf(rates(samples.promoted), rates(samples.floor)),
            limit: { atLeast: 1.2, aim: 1.6 },
          },
          {
            key: `dispatch_single_vs_floor_${concurrency}`,
            title: `the same with a job for each task, ${parallel}`,
            ...ratioOf(rates(samples.single), rates(samples.floor)),
            limit: { atLeast: 0.6, aim: 0.75 },
          },
          {
            key: `dispatch_no_redis_vs_floor_${concurrency}`,
            title: `the same without Redis, ${parallel}`,
            ...ratioOf(rates(samples.noRedis), rates(samples.floor)),
            limit: { atLeast: 1.2 },
          },
          {
            key: `dispatch_cpu_vs_floor_${concurrency}`,
            title: `CPU of a dispatch over Node, PostgreSQL and Redis / that of the floor, ${parallel}`,
            ...ratioOf(samples.promoted.map(totalCpuUs), samples.floor.map(totalCpuUs)),
            limit: { atMost: 0.85 },
          },
        ],
      }
    },
  }
}

const warmUpDueInMs = 4 * 60_000

/** Belfry with tasks that the scheduler adds to the queue, as it does with every task that is created minutes ahead. */
export function promotedCalls(lab: Lab, database: Database, race: Race, root?: string): Promise<Sample> {
  const enqueue: Enqueue = async (stored, groups) => {
    const before = readCpu(groups)
    await promote(database, stored)
    return cpuPerOperation(before, readCpu(groups), race.count)
  }
  return belfryCalls(lab, database, race, { enqueue, root })
}

/** Belfry with a job for each task, as the API adds it for a task that is due soon. Adding the jobs does not count. */
function singleCalls(lab: Lab, database: Database, race: Race): Promise<Sample> {
  const origin = originOfUrl(lab.target.url())
  const enqueue: Enqueue = async stored => {
    const queue = openDispatchQueue({ redisUrl: lab.redis.url, onError: error => console.error(error.message) })
    const waiting = stored.values()
    const lanes = Array.from({ length: 50 }, async () => {
      for (const { id, dueAt, workspaceId } of waiting) {
        const task = { id: toId('task', id), dueAt: dueAt.getTime(), workspace: toId('ws', workspaceId), origin }
        await queue.schedule([task], Date.now())
      }
    })
    await Promise.all(lanes)
    await queue.close()
    return {}
  }
  return belfryCalls(lab, database, race, { enqueue })
}

/** The dispatcher finds due tasks in PostgreSQL. */
function callsWithoutRedis(lab: Lab, database: Database, race: Race): Promise<Sample> {
  return belfryCalls(lab, database, race, { enqueue: null })
}

/** Adds tasks to the queue, and returns the CPU that it used for each. */
type Enqueue = (stored: StoredTask[], groups: ProcessGroups) => Promise<Reading>

/** How tasks reach the dispatcher; without a queue, there is no Redis. */
type Way = { enqueue: Enqueue | null; root?: string | undefined }

async function belfryCalls(
  lab: Lab,
  database: Database,
  { concurrency, count }: Race,
  { enqueue, root }: Way,
): Promise<Sample> {
  const redisUrl = enqueue === null ? null : lab.redis.url
  const services: ServiceName[] = ['scheduler', 'dispatcher']
  await using belfry = await startBelfry(lab, database, { services, concurrency, redisUrl, root })
  const url = lab.target.url()
  const groups = processGroups(lab, belfry.pids)
  // Warms the scheduler up. These tasks are deleted before they are due.
  const others = await storeTasks(database, { count: Math.round(count * warmUpShare), url, dueInMs: warmUpDueInMs })
  if (enqueue !== null) await promote(database, others)
  await forgetTasks(database, others)
  lab.target.counter.reset()
  // Late enough that all jobs are in the queue by then.
  const stored = await storeTasks(database, { count, url, dueInMs: 1_500 + count * 0.15 })
  const [enqueued, sample] = await Promise.all([
    enqueue?.(stored, groups),
    measureWindow(lab.target.counter, count, groups),
  ])
  await requireRecorded(database, stored)
  await requireCalls(lab, count)
  const cpuUs = Object.entries(sample.cpuUs).map(([group, us]) => [group, us + (enqueued?.[group] ?? 0)] as const)
  return { ...sample, cpuUs: Object.fromEntries(cpuUs) }
}

// The floor: a BullMQ worker that makes the calls and stores nothing.
async function floor(lab: Lab, { concurrency, count }: Race): Promise<Sample> {
  await lab.redis.client.flushall()
  await addBullmqJobs(lab, count)
  await using worker = await startFloor(lab, concurrency)
  return await measureWorker(lab, count, worker)
}

/** Starts a BullMQ worker that makes calls and stores nothing. */
export function startFloor(lab: Lab, concurrency: number): Promise<Child> {
  const options: JobQueueOptions = { kind: 'bullmq', redisUrl: lab.redis.url, databaseUrl: '', concurrency }
  return lab.startProgram('job-queue', options)
}

/** Measures a worker until it has made all calls. */
export async function measureWorker(lab: Lab, count: number, worker: Child): Promise<Sample> {
  lab.target.counter.reset()
  const measuring = measureWindow(lab.target.counter, count, processGroups(lab, [worker.pid]))
  worker.channel.send('go')
  const sample = await measuring
  await requireCalls(lab, count)
  return sample
}

/** Adds jobs that contain their request. They are due at once, or at the times of `dueAt`, which then name the calls. */
export async function addBullmqJobs(lab: Lab, count: number, dueAt?: (job: number) => number): Promise<void> {
  const calls = new Queue<Job>(queueName, { connection: { url: lab.redis.url } })
  const bulk = 500
  for (let added = 0; added < count; added += bulk) {
    const now = Date.now()
    const jobs = Array.from({ length: Math.min(bulk, count - added) }, (_, i) => {
      const due = dueAt?.(added + i)
      const opts = { timestamp: now, delay: Math.max(0, (due ?? now) - now) }
      return { name: 'call', data: { url: lab.target.url(due), body: payload }, opts }
    })
    await calls.addBulk(jobs)
  }
  await calls.close()
}
