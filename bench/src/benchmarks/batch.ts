import { request } from 'undici'
import { createApiKey } from '../lab/api-caller.ts'
import { startBelfry } from '../lab/belfry.ts'
import type { Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { measured, quantile } from '../measure/statistics.ts'
import type { Benchmark } from './benchmark.ts'

const size = 1_000
const requests = { warmUp: 5, measured: 10 }
const yearMs = 365 * 24 * 3_600_000

/** How long one request that creates a thousand tasks takes. */
export const batch: Benchmark = {
  name: 'batch',
  title: `${size} tasks in one request`,
  async run(lab, { rounds }) {
    const perRound = await rounds.run(() => createBatches(lab))
    const title = `from the request to its answer, about 1 KB for each task, median of ${requests.measured} requests`
    const value = measured(perRound.map(times => quantile(times, 0.5)))
    return {
      rounds: perRound,
      figures: [{ key: 'batch_1000_ms', title, unit: 'ms', ...value, limit: { atMost: 300 } }],
    }
  },
}

async function createBatches(lab: Lab): Promise<number[]> {
  const database = await lab.freshDatabase()
  const belfry = await startBelfry(lab, database, { services: ['api'] })
  try {
    const headers = { 'content-type': 'application/json', 'x-api-key': await createApiKey(belfry.apiUrl) }
    const body = batchText(lab.target.url())
    const times: number[] = []
    for (let i = 0; i < requests.warmUp + requests.measured; i++) {
      const began = performance.now()
      const answer = await request(`${belfry.apiUrl}/api/v1/scheduler/tasks/batch`, { method: 'POST', headers, body })
      const text = await answer.body.text()
      times.push(performance.now() - began)
      const { data } = JSON.parse(text) as { data?: Array<{ task?: unknown }> }
      if (data?.filter(({ task }) => task).length !== size) throw new Error(`A batch was answered with ${text}`)
    }
    return times.slice(requests.warmUp)
  } finally {
    await belfry.stop()
    await database.close()
  }
}

function batchText(url: string): string {
  const executeAt = new Date(Date.now() + yearMs).toISOString()
  const task = { name: 'Bench', url, method: 'POST', execute_at: executeAt, payload: JSON.parse(payload) as unknown }
  return JSON.stringify({ tasks: Array.from({ length: size }, () => task) })
}
