import { waitFor } from '../../wait-for.ts'
import type { Bench } from './bench.ts'

const queue = '{belfry}:dispatch'

/** Puts a job into the queue that the product has not made, and waits until a dispatcher has done with it. */
export async function forgeJob(
  bench: Bench,
  jobId: string,
  tasks: ReadonlyArray<readonly [string, number]>,
): Promise<void> {
  const { client } = bench.redis
  const job = { name: 'dispatch', data: JSON.stringify({ tasks }), opts: '{}', delay: 0, priority: 0 }
  await client.hset(`${queue}:${jobId}`, { ...job, timestamp: Date.now() })
  await client.lpush(`${queue}:wait`, jobId)
  await client.zadd(`${queue}:marker`, 0, '0')
  await waitFor(
    () => client.exists(`${queue}:${jobId}`),
    there => there === 0,
  )
}

/** Counts the tasks that the delayed jobs of the dispatch queue stand for, one that stands in two jobs twice. */
export async function countDelayedTasks({ redis: { client } }: Bench): Promise<number> {
  const ids = await client.zrange(`${queue}:delayed`, '0', '-1')
  const jobs = await Promise.all(ids.map(id => client.hget(`${queue}:${id}`, 'data')))
  return jobs.reduce(
    (count, job) => count + (JSON.parse(job ?? '{"tasks":[]}') as { tasks: unknown[] }).tasks.length,
    0,
  )
}

/** Counts the delayed jobs of the dispatch queue. */
export function countDelayedJobs(bench: Bench): Promise<number> {
  return bench.redis.client.zcard(`${queue}:delayed`)
}
