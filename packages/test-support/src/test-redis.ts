import { testServers } from './test-servers.ts'

/** Returns the URL of the run's Redis; null when none is installed. Tests share it, so each needs its own key prefix. */
export function testRedisUrl(): string | null {
  return testServers().redisUrl
}

/** Returns the queue backends that this machine can test. */
export function queueBackends(): Array<'redis' | 'postgres'> {
  return testRedisUrl() ? ['redis', 'postgres'] : ['postgres']
}
