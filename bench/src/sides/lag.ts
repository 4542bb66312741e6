import { startBelfry } from '../lab/belfry.ts'
import { type Lab, requireCalls } from '../lab/lab.ts'
import { payload, promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { type Lateness, latenessOf } from '../measure/lateness.ts'
import { addBullmqJobs, startBullmq } from './bullmq.ts'

// The calls of the first second warm the processes up.
const load = { perSecond: 1_000, seconds: 5, warmUpSeconds: 1 }
const count = load.perSecond * load.seconds
const concurrency = 200

/** Returns how late Belfry starts tasks that come due one after another. Default: one dispatcher, and the lab's Redis. */
export async function belfryLag(
  lab: Lab,
  { dispatchers = 1, redisUrl }: { dispatchers?: number; redisUrl?: null } = {},
): Promise<Lateness> {
  const database = await lab.freshDatabase()
  const services = ['scheduler' as const, ...Array.from({ length: dispatchers }, () => 'dispatcher' as const)]
  const belfry = await startBelfry(lab, database, { concurrency, services, redisUrl })
  try {
    lab.target.counter.reset()
    const times = { dueInMs: 3_500, apartMs: 1000 / load.perSecond }
    const stored = await storeTasks(database, { count, url: lab.target.url(''), named: true, ...times })
    if (redisUrl !== null) await promote(database, stored)
    await requireCalls(lab, count) // a query before this point would disturb the database
    await requireRecorded(database, stored)
    return await readLateness(lab, stored.firstDueAt.getTime())
  } finally {
    await belfry.stop()
    await database.close()
  }
}

/** Returns how late a BullMQ worker that stores nothing starts delayed jobs. */
export async function bullmqLag(lab: Lab): Promise<Lateness> {
  await lab.redis.client.flushall()
  lab.target.counter.reset()
  const worker = await startBullmq(lab, { concurrency, durable: null })
  try {
    worker.channel.send('go')
    const firstDueAt = Date.now() + 3_000
    const dueTimes = Array.from({ length: count }, (_, i) => Math.round(firstDueAt + (i * 1000) / load.perSecond))
    await addBullmqJobs(
      lab,
      dueTimes.map(dueAt => ({ request: { url: lab.target.url(dueAt), body: payload }, dueAt })),
    )
    return await readLateness(lab, firstDueAt)
  } finally {
    await worker.stop()
  }
}

async function readLateness(lab: Lab, firstDueAt: number): Promise<Lateness> {
  await requireCalls(lab, count)
  const { arrivals } = await lab.target.counter.collect()
  return latenessOf(arrivals, firstDueAt + load.warmUpSeconds * 1000)
}
