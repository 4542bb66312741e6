import { testServers } from './test-servers.ts'

/** The run's Redis; null when none is installed. It is shared: keep apart with a key prefix of one's own. */
export function testRedisUrl(): string | null {
  return testServers().redisUrl
}

/** The backends of the queue that can be tested on this machine. */
export function queueBackends(): Array<'redis' | 'postgres'> {
  return testRedisUrl() ? ['redis', 'postgres'] : ['postgres']
}
