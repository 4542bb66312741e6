import type { Benchmark, Figure } from '../benchmark.ts'
import { type ServiceName, startBelfry } from '../lab/belfry.ts'
import { apiKey, type Database } from '../lab/database.ts'
import { inFreshDatabase, type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { payload, requireRuns } from '../lab/tasks.ts'
import { interleave, measured } from '../measure/statistics.ts'
import { measureWindow, rates, type Sample, totalCpuUs } from '../measure/window.ts'
import type { LoadOptions } from '../programs/load.ts'

const count = 12_000
const connections = 64
const services: ServiceName[] = ['api', 'scheduler', 'dispatcher']

/** Publishes events as fast as the API takes them, and counts their calls at the target. */
export const events: Benchmark = {
  name: 'events',
  title: `Events at saturation, ${connections} connections`,
  async run(lab, { rounds }) {
    const side = (redisUrl: string | null) => inFreshDatabase(lab, database => deliverEvents(lab, database, redisUrl))
    const samples = await interleave({ redis: side(lab.redis.url), noRedis: side(null) }, rounds)
    return {
      rounds: samples,
      figures: [
        ...figuresOf('events', 'Belfry with Redis', samples.redis),
        ...figuresOf('events_no_redis', 'Belfry without Redis', samples.noRedis),
      ],
    }
  },
}

function figuresOf(key: string, side: string, samples: readonly Sample[]): Figure[] {
  return [
    {
      key: `${key}_per_second`,
      title: 'events a second, from the request to the call',
      side,
      unit: '/s',
      ...measured(rates(samples)),
      limit: { atLeast: 2_500 },
    },
    { key: `${key}_cpu_us`, title: 'CPU of an event', side, unit: 'us', ...measured(samples.map(totalCpuUs)) },
  ]
}

async function deliverEvents(lab: Lab, database: Database, redisUrl: string | null): Promise<Sample> {
  await using belfry = await startBelfry(lab, database, { services, redisUrl })
  const argument: LoadOptions = {
    port: belfry.port,
    connections,
    requests: count,
    request: eventRequest(lab.target.url()),
    status: 202,
  }
  await using load = await lab.startProgram('load', argument)
  lab.target.counter.reset()
  const groups = processGroups(lab, belfry.pids)
  const measuring = measureWindow(lab.target.counter, count, { ...groups, outside: [lab.target.pid, load.pid] })
  load.channel.send('go')
  const sample = await measuring
  await requireCalls(lab, count)
  await requireRuns(database, count)
  return sample
}

function eventRequest(url: string): string {
  const event = { topic: 'bench.event', target_url: url, payload: JSON.parse(payload) as unknown }
  const body = JSON.stringify(event)
  const head = [
    'POST /api/events HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Api-Key: ${apiKey}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
