import { queueBackends, type Receiver, type RedisCluster, startReceiver, startRedisCluster } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'

const batch = '/api/v1/scheduler/tasks/batch'

describe.each(queueBackends().filter(backend => backend === 'redis'))('a Belfry on a cluster of %s', () => {
  let cluster: RedisCluster
  let belfry: Belfry
  let target: Receiver
  beforeAll(async () => {
    ;[cluster, target] = await Promise.all([startRedisCluster(), startReceiver()])
    belfry = await startBelfry('postgres', { env: { REDIS_URL: cluster.url, QUEUE_SHARDS: '6' } })
  }, 60_000)
  afterAll(async () => {
    await belfry?.close()
    await cluster?.close()
    await target?.close()
  })

  async function schedule(name: string, count: number, aheadMs: number): Promise<string[]> {
    const tasks = Array.from({ length: count }, (_, i) => {
      return {
        name: `${name}-${i}`,
        url: target.url(`/${name}/${i}`),
        method: 'POST',
        execute_at: inMs(aheadMs + i * 100),
      }
    })
    const { status, body } = await belfry.call('POST', batch, { tasks })
    expect(status).toBe(200)
    expect(body.data.every((row: { task?: unknown }) => row.task)).toBe(true)
    return tasks.map(({ url }) => new URL(url).pathname)
  }
  /** Returns how often each path of a name was called. */
  const calls = (name: string) => target.requests.map(({ path }) => path).filter(path => path.startsWith(`/${name}/`))

  it('delivers every task once', async () => {
    const paths = await schedule('well', 60, 6_000)
    await waitFor(
      async () => calls('well').length,
      count => count >= 60,
      30_000,
    )
    expect(calls('well').sort()).toEqual(paths.sort())
  })

  it('delivers late and loses nothing when a node without a replica dies and comes back', async () => {
    const waiting = await schedule('before', 40, 8_000)
    await cluster.kill(1)
    const created = await schedule('during', 40, 6_000) // the missing node changes no answer
    await waitFor(
      async () => calls('before').length + calls('during').length,
      count => count >= 80,
      60_000,
    )
    await cluster.revive(1)
    const after = await schedule('after', 40, 6_000)
    await waitFor(
      async () => calls('after').length,
      count => count >= 40,
      60_000,
    )
    const seen = ['before', 'during', 'after'].flatMap(calls)
    expect(seen.sort()).toEqual([...waiting, ...created, ...after].sort())
  }, 150_000)
})
