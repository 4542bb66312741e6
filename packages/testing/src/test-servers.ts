import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The servers of this test run; only for tests that may need them. */
    servers?: TestServers
  }
}

/** What the run's global setup has started. */
export type TestServers = {
  postgresUrl: string
  /** Null when no Redis is installed here. */
  redisUrl: string | null
}

/** Finds the servers of this test run. */
export function testServers(): TestServers {
  const servers = inject('servers')
  if (!servers)
    throw new Error('Tests beside the sources get no database: move this one to the test/ folder of its package.')
  return servers
}
