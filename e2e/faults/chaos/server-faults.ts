import { lasting } from '../fixture/moments.ts'
import type { ProxyMode } from '../fixture/proxy.ts'
import { between, type FaultLane, pick } from './fault-lane.ts'

type Fault = (lane: FaultLane) => Promise<string>

/** Flushes, restarts and disconnects Redis and PostgreSQL, one after another, until the end. */
export async function serverFaults(lane: FaultLane): Promise<void> {
  while (performance.now() < lane.endAt) {
    await lasting(between(lane.random, 4_000, 12_000))
    lane.faults++
    lane.onFault(await pick(lane.random, faults)(lane))
  }
}

const faults: [Fault, ...Fault[]] = [
  async ({ fixture }) => {
    await fixture.redis.client.flushall()
    return 'FLUSHALL'
  },
  async ({ fixture, random }) => {
    const ms = between(random, 0, 8_000)
    await fixture.redis.kill()
    await lasting(ms)
    await fixture.redis.start()
    return `Redis killed, back after ${ms} ms`
  },
  lane => restartPostgres(lane, 'immediate', between(lane.random, 0, 4_000)),
  lane => restartPostgres(lane, 'fast', between(lane.random, 0, 4_000)),
  lane => restartPostgres(lane, 'immediate', between(lane.random, 17_000, 22_000)),
  async ({ fixture, random }) => {
    await fixture.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND application_name <> 'fixture' ORDER BY random() LIMIT $1`,
      [between(random, 1, 10)],
    )
    return 'connections terminated'
  },
  lane => cut(lane, 'redis'),
  lane => cut(lane, 'postgres'),
]

// A restart of any length loses no attempt: the scheduler declares no dispatcher dead while it cannot read.
async function restartPostgres(lane: FaultLane, how: 'fast' | 'immediate', ms: number): Promise<string> {
  await lane.fixture.postgres.stop(how)
  await lasting(ms)
  await lane.fixture.postgres.start()
  return `PostgreSQL stopped (${how}), back after ${ms} ms`
}

async function cut(lane: FaultLane, server: 'redis' | 'postgres'): Promise<string> {
  const { random, fixture } = lane
  const mode = pick<ProxyMode>(random, [
    { does: 'black_hole' },
    { does: 'reset' },
    { does: 'refuse' },
    { does: 'delay', ms: 200 },
  ])
  const ms = between(random, 1_000, 10_000)
  await fixture[server].proxy.set(mode)
  // The scheduler may take a dispatcher for dead whose statements were delayed longer than its own.
  if (server === 'postgres' && mode.does === 'black_hole') await fixture.charges.all('PostgreSQL became a black hole')
  await lasting(ms)
  await fixture[server].proxy.set({ does: 'pass' })
  return `${server} ${mode.does.replace('_', ' ')} for ${ms} ms`
}
