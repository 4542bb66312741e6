import { expect, it } from 'vitest'
import { judgeRedis } from './inspect-redis.ts'

const fit = { redis_version: '7.0.15', maxmemory_policy: 'noeviction', aof_enabled: '1' }

it.each([
  [{}, []],
  [{ redis_version: '6.2.0' }, []],
  [{ redis_version: '6.0.16' }, [/6\.0\.16 is too old/]],
  [{ redis_version: '5.0.7' }, [/too old/]],
  [{ maxmemory_policy: 'allkeys-lru' }, [/allkeys-lru.*noeviction/]],
  [{ aof_enabled: '0', maxmemory_policy: 'volatile-ttl' }, [/volatile-ttl/, /AOF is off/]],
])('judges a Redis with %j', (change, findings) => {
  const judged = judgeRedis(new Map(Object.entries({ ...fit, ...change })))
  expect(judged).toEqual(findings.map(finding => expect.stringMatching(finding)))
})
