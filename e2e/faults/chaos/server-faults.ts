import { lasting } from '../bench/moments.ts'
import type { ProxyMode } from '../bench/proxy.ts'
import { between, countUnderWay, type FaultStory, pick } from './fault-story.ts'

type Fault = (story: FaultStory) => Promise<string>

/** Loses, restarts and cuts Redis and PostgreSQL, one after another, until the end. */
export async function serverFaults(story: FaultStory): Promise<void> {
  while (performance.now() < story.endAt) {
    await lasting(between(story.random, 4_000, 12_000))
    story.faults++
    story.onFault(await pick(story.random, faults)(story))
  }
}

const faults: [Fault, ...Fault[]] = [
  async ({ bench }) => {
    await bench.redis.client.flushall()
    return 'FLUSHALL'
  },
  async ({ bench, random }) => {
    const ms = between(random, 0, 8_000)
    await bench.redis.kill()
    await lasting(ms)
    await bench.redis.start()
    return `Redis killed, back after ${ms} ms`
  },
  story => restartPostgres(story, 'immediate', between(story.random, 0, 4_000)),
  story => restartPostgres(story, 'fast', between(story.random, 0, 4_000)),
  story => restartPostgres(story, 'immediate', between(story.random, 17_000, 22_000)),
  async ({ bench, random }) => {
    await bench.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND application_name <> 'bench' ORDER BY random() LIMIT $1`,
      [between(random, 1, 10)],
    )
    return 'connections terminated'
  },
  story => cut(story, 'redis'),
  story => cut(story, 'postgres'),
]

// An outage that outlasts a lease costs what was under way. The leases of the load last 16 s.
const shortOutageMs = 12_000

async function restartPostgres(story: FaultStory, how: 'fast' | 'immediate', ms: number): Promise<string> {
  const underWay = await countUnderWay(story.bench)
  if (ms > shortOutageMs) story.mayRepeat += underWay
  await story.bench.postgres.stop(how)
  await lasting(ms)
  await story.bench.postgres.start()
  return `PostgreSQL stopped (${how}), back after ${ms} ms`
}

async function cut(story: FaultStory, server: 'redis' | 'postgres'): Promise<string> {
  const { random, bench } = story
  const mode = pick<ProxyMode>(random, [
    { does: 'black_hole' },
    { does: 'reset' },
    { does: 'refuse' },
    { does: 'delay', ms: 200 },
  ])
  const ms = between(random, 1_000, 10_000)
  // The statements that a black hole holds back may wait for their own time-outs of up to 20 s.
  if (server === 'postgres' && mode.does === 'black_hole') story.mayRepeat += await countUnderWay(bench)
  await bench[server].proxy.set(mode)
  await lasting(ms)
  await bench[server].proxy.set({ does: 'pass' })
  return `${server} ${mode.does.replace('_', ' ')} for ${ms} ms`
}
