import { reasonOf } from '@belfry/launcher'
import { examineRedis, type RedisExamination } from '@belfry/queue/examine'
import { type Observation, ok, problem, warning } from '../finding.ts'

/** Checks the Redis of the queue. `skewMs` is null when it cannot be measured. */
export async function checkRedis(redisUrl: string): Promise<{ found: Observation[]; skewMs: number | null }> {
  let examined: RedisExamination
  try {
    examined = await examineRedis(redisUrl)
  } catch (error) {
    const reason = reasonOf(error)
    const isRefused = /NOAUTH|WRONGPASS|NOPERM/.test(reason)
    const advice = isRefused
      ? 'Correct the user and the password in REDIS_URL.'
      : 'Start Redis or correct REDIS_URL. Tasks are delivered meanwhile, from PostgreSQL.'
    return { found: [problem(`Redis does not answer: ${reason}`, advice)], skewMs: null }
  }
  const found = examined.findings.map(text => warning(text, 'Then restart Redis, or use CONFIG SET.'))
  if (examined.refusal !== null) {
    const advice = 'Raise maxmemory, or free memory. Tasks are delivered meanwhile, from PostgreSQL.'
    found.push(problem(`Redis refuses writes: ${examined.refusal}`, advice))
  }
  return { found: found.length > 0 ? found : [ok('Redis keeps jobs and accepts writes')], skewMs: examined.skewMs }
}
