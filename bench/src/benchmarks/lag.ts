import type { Benchmark, Figure } from '../benchmark.ts'
import { type ServiceName, startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import { inFreshDatabase, type Lab, requireCalls } from '../lab/lab.ts'
import { dueTimes, promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { interleave, measured, quantile, ratioOf } from '../measure/statistics.ts'
import { addBullmqJobs, startFloor } from './dispatch.ts'

// The default of Redis. An idle worker learns of a delayed job at the next of these ticks.
const defaultHz = 10
// The first calls warm the processes up. Three dispatchers on two cores need more than a second for that.
const load = { perSecond: 1_000, seconds: 8, warmUpSeconds: 3 }
const count = load.perSecond * load.seconds
const concurrency = 200
// Each process reads the clock of the machine in its own way.
const maxClockDifferenceMs = 2

/** Measures how late calls start at 1,000 a second, and compares that with BullMQ's own delayed jobs. */
export const lag: Benchmark = {
  name: 'lag',
  title: 'Lateness at 1,000 tasks a second',
  async run(lab, { rounds }) {
    const { client } = lab.redis
    const [, before = ''] = (await client.config('GET', 'hz')) as string[]
    await client.config('SET', 'hz', defaultHz)
    const three: ServiceName[] = ['scheduler', 'dispatcher', 'dispatcher', 'dispatcher']
    const sides = {
      belfry: inFreshDatabase(lab, database => belfryLag(lab, database, ['scheduler', 'dispatcher'])),
      threeNoRedis: inFreshDatabase(lab, database => belfryLag(lab, database, three, null)),
      bullmq: () => bullmqLag(lab),
    }
    const samples = await interleave(sides, rounds).finally(() => client.config('SET', 'hz', before))
    const at = (share: number, side = samples.belfry) => side.map(({ warm }) => quantile(warm, share))
    const figure = (key: string, title: string, share: number): Figure => {
      return { key, title, unit: 'ms', ...measured(at(share)) }
    }
    return {
      rounds: { belfry: at(0.99), threeNoRedis: at(0.99, samples.threeNoRedis), bullmq: at(0.99, samples.bullmq) },
      notes: [`Redis ran with its default hz of ${defaultHz}: it checks waiting clients ${defaultHz} times a second.`],
      figures: [
        figure('lag_p50_1000_ms', 'from the due time to the arrival at the target, median', 0.5),
        { ...figure('lag_p99_1000_ms', 'the same, 99 of 100 calls', 0.99), limit: { atMost: 25 } },
        figure('lag_p999_1000_ms', 'the same, 999 of 1000 calls', 0.999),
        {
          key: 'lag_p99_three_no_redis_ms',
          title: 'three dispatchers without Redis, 99 of 100 calls',
          unit: 'ms',
          ...measured(at(0.99, samples.threeNoRedis)),
          limit: { atMost: 30 },
        },
        {
          key: 'lag_p99_three_no_redis_cold_ms',
          title: 'the same in the first seconds of three new processes',
          unit: 'ms',
          ...measured(samples.threeNoRedis.map(({ cold }) => quantile(cold, 0.99))),
        },
        {
          key: 'lag_p99_vs_bullmq',
          title: "the 99th percentile / that of BullMQ's own delayed jobs",
          ...ratioOf(at(0.99), at(0.99, samples.bullmq)),
          limit: { atMost: 0.25 },
        },
      ],
    }
  },
}

async function belfryLag(
  lab: Lab,
  database: Database,
  services: ServiceName[],
  redisUrl: string | null = lab.redis.url,
): Promise<Lateness> {
  await using _belfry = await startBelfry(lab, database, { concurrency, services, redisUrl })
  lab.target.counter.reset()
  const times = { dueInMs: 3_500, apartMs: 1000 / load.perSecond }
  const stored = await storeTasks(database, { count, url: lab.target.url(''), named: true, ...times })
  if (redisUrl !== null) await promote(database, stored)
  await requireCalls(lab, count) // a query before this point would disturb the database
  await requireRecorded(database, stored)
  return await readLateness(lab, dueTimes(stored).first.getTime())
}

// A worker that stores nothing.
async function bullmqLag(lab: Lab): Promise<Lateness> {
  await lab.redis.client.flushall()
  lab.target.counter.reset()
  await using worker = await startFloor(lab, concurrency)
  worker.channel.send('go')
  const firstDueAt = Date.now() + 3_000
  await addBullmqJobs(lab, count, job => Math.round(firstDueAt + (job * 1000) / load.perSecond))
  return await readLateness(lab, firstDueAt)
}

/** By how many milliseconds calls were late, in the first seconds of new processes and afterwards. */
type Lateness = { cold: number[]; warm: number[] }

// The name of each call is its due time.
async function readLateness(lab: Lab, firstDueAt: number): Promise<Lateness> {
  const arrivals = await requireCalls(lab, count)
  const warmFrom = firstDueAt + load.warmUpSeconds * 1000
  const late: Lateness = { cold: [], warm: [] }
  for (const [due, at] of arrivals) late[Number(due) < warmFrom ? 'cold' : 'warm'].push(at - Number(due))
  const min = Math.min(...late.cold, ...late.warm)
  if (min < -maxClockDifferenceMs) throw new Error(`A call came ${-min} ms before its time.`)
  return late
}
