import { startBelfry } from '../lab/belfry.ts'
import { type Lab, requireCalls } from '../lab/lab.ts'
import { payload, promote, requireRecorded, storeTasks } from '../lab/tasks.ts'
import { type Lateness, latenessOf } from '../measure/lateness.ts'
import { addFloorJobs, startFloor } from './floor.ts'

export type LagOptions = { perSecond: number; seconds: number; warmUpSeconds: number; concurrency: number }

/** Default: one dispatcher, and the lab's Redis. */
export type LagSetup = { dispatchers?: number; redisUrl?: null }

/** How late Belfry starts tasks that come due one after another. */
export async function belfryLag(
  lab: Lab,
  options: LagOptions,
  { dispatchers = 1, redisUrl }: LagSetup = {},
): Promise<Lateness> {
  const count = options.perSecond * options.seconds
  const database = await lab.freshDatabase()
  const services = ['scheduler' as const, ...Array.from({ length: dispatchers }, () => 'dispatcher' as const)]
  const belfry = await startBelfry(lab, database, { ...options, services, redisUrl })
  try {
    lab.target.counter.reset()
    const times = { dueInMs: 3_500, apartMs: 1000 / options.perSecond }
    const stored = await storeTasks(database, { count, url: lab.target.url(''), named: true, ...times })
    if (redisUrl !== null) await promote(database, stored)
    await requireCalls(lab, count) // asking the database before that would disturb it
    await requireRecorded(database, stored)
    return await readLateness(lab, options, stored.firstDueAt.getTime())
  } finally {
    await belfry.stop()
    await database.close()
  }
}

/** How late a bare BullMQ worker starts delayed jobs. */
export async function floorLag(lab: Lab, options: LagOptions): Promise<Lateness> {
  const count = options.perSecond * options.seconds
  await lab.servers.redis.flushall()
  lab.target.counter.reset()
  const worker = await startFloor(lab, { concurrency: options.concurrency, client: 'undici' })
  try {
    worker.channel.send('go')
    const firstDueAt = Date.now() + 3_000
    const dueTimes = Array.from({ length: count }, (_, i) => Math.round(firstDueAt + (i * 1000) / options.perSecond))
    await addFloorJobs(
      lab,
      dueTimes.map(dueAt => ({ request: { url: lab.target.url(dueAt), body: payload }, dueAt })),
    )
    return await readLateness(lab, options, firstDueAt)
  } finally {
    await worker.stop()
  }
}

async function readLateness(lab: Lab, options: LagOptions, firstDueAt: number): Promise<Lateness> {
  await requireCalls(lab, options.perSecond * options.seconds)
  const { arrivals } = await lab.target.counter.collect()
  return latenessOf(arrivals, firstDueAt + options.warmUpSeconds * 1000)
}
