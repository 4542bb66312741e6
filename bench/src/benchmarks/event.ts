import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Benchmark } from '../benchmark.ts'
import { createApiKey, startBelfry } from '../lab/belfry.ts'
import { type Lab, requireCalls } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { measured, quantile } from '../measure/statistics.ts'

const counts = { warmUp: 100, measured: 300 }
const apartMs = 5

/** Measures how soon the call of an event starts after the API has answered. */
export const event: Benchmark = {
  name: 'event',
  title: 'Events',
  async run(lab, { rounds }) {
    const samples = await interleave({ belfry: () => publishEvents(lab) }, rounds)
    const at = (share: number) => measured(samples.belfry.map(delays => quantile(delays, share)))
    const title = "from the API's answer to the start of the call, median"
    return {
      rounds: samples.belfry,
      figures: [
        { key: 'event_p50_ms', title, unit: 'ms', ...at(0.5) },
        { key: 'event_p99_ms', title: 'the same, 99 of 100 events', unit: 'ms', ...at(0.99), limit: { atMost: 15 } },
      ],
    }
  },
}

async function publishEvents(lab: Lab): Promise<number[]> {
  const database = await lab.freshDatabase()
  const belfry = await startBelfry(lab, database, { services: ['api', 'scheduler', 'dispatcher'] })
  const dispatcher = new Agent({ connections: 1 })
  try {
    lab.target.counter.reset()
    const headers = { 'content-type': 'application/json', 'x-api-key': await createApiKey(belfry.apiUrl) }
    const answeredAt = new Map<string, number>()
    for (let i = 0; i < counts.warmUp + counts.measured; i++) {
      const body = JSON.stringify({ topic: 'bench.event', payload: { n: i }, target_url: lab.target.url(i) })
      const answer = await request(`${belfry.apiUrl}/api/events`, { method: 'POST', headers, body, dispatcher })
      answeredAt.set(String(i), performance.timeOrigin + performance.now())
      const text = await answer.body.text()
      if (answer.statusCode !== 202) throw new Error(`An event was answered with ${answer.statusCode}: ${text}`)
      await sleep(apartMs)
    }
    await requireCalls(lab, answeredAt.size)
    const { arrivals } = await lab.target.counter.collect()
    return arrivals.flatMap(([name, at]) => (Number(name) < counts.warmUp ? [] : [at - (answeredAt.get(name) ?? 0)]))
  } finally {
    await dispatcher.close()
    await belfry.stop()
    await database.close()
  }
}
