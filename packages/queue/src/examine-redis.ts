import { randomUUID } from 'node:crypto'
import { Cluster } from 'ioredis'
import { inspectRedis } from './inspect-redis.ts'
import { openRedis, type RedisClient } from './open-redis.ts'

export type RedisExamination = Awaited<ReturnType<typeof examineRedis>>

/** Connects to a Redis once, for a diagnosis. Rejects when it does not answer within some seconds. */
export async function examineRedis(url: string) {
  let lastError: Error | null = null
  const options = { maxRetriesPerRequest: 1, commandTimeout: 3_000, socketTimeout: 5_000 }
  const redis = openRedis(url, options, error => {
    lastError = error
  })
  try {
    return {
      /** Settings that can delay tasks. */
      findings: await inspectRedis(redis),
      /** How far its clock is ahead of this process, in ms; null in a cluster. */
      skewMs: await measureSkew(redis),
      /** Why it refuses a write, or null if it accepts writes. */
      refusal: await tryWrite(redis),
    }
  } catch (error) {
    // "Reached the max retries" hides why.
    throw lastError ?? error
  } finally {
    redis.disconnect()
  }
}

async function measureSkew(redis: RedisClient): Promise<number | null> {
  if (redis instanceof Cluster) return null
  const before = Date.now()
  const [seconds, microseconds] = (await redis.time()).map(Number) as [number, number]
  return Math.round(seconds * 1000 + microseconds / 1000 - (before + Date.now()) / 2)
}

async function tryWrite(redis: RedisClient): Promise<string | null> {
  try {
    await redis.set(`{belfry}:doctor:${randomUUID()}`, 'x', 'PX', 1000)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
