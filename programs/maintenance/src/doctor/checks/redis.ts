import { reasonOf } from '@belfry/launcher'
import { examineRedis } from '@belfry/queue/examine'
import { type Observation, ok, problem, warning } from '../finding.ts'

/** Checks the Redis of the queue. Adds to `skews` how far its clock is ahead of this machine's, in ms, if that can be measured. */
export async function checkRedis(redisUrl: string, skews: Record<string, number>): Promise<Observation[]> {
  const examined = await examineRedis(redisUrl).catch(reasonOf)
  if (typeof examined === 'string') {
    const isRefused = /NOAUTH|WRONGPASS|NOPERM/.test(examined)
    const advice = isRefused
      ? 'Correct the user and the password in REDIS_URL.'
      : 'Start Redis or correct REDIS_URL. Tasks are delivered meanwhile, from PostgreSQL.'
    return [problem(`Redis does not answer: ${examined}`, advice)]
  }
  if (examined.skewMs !== null) skews.Redis = examined.skewMs
  const found = examined.findings.map(text => warning(text, 'Then restart Redis, or use CONFIG SET.'))
  if (examined.refusal !== null) {
    const advice = 'Raise maxmemory, or free memory. Tasks are delivered meanwhile, from PostgreSQL.'
    found.push(problem(`Redis refuses writes: ${examined.refusal}`, advice))
  }
  return found.length > 0 ? found : [ok('Redis keeps jobs and accepts writes')]
}
