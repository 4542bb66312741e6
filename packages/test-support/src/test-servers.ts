import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The servers of this test run; absent for unit tests. */
    servers?: TestServers
  }
}

/** The servers of the run's global setup. */
export type TestServers = {
  postgresUrl: string
  /** Null when no Redis is installed here. */
  redisUrl: string | null
  /** Starts the shared installation on a queue backend, `redis` or `postgres`, and returns where it is: GET with the backend as path. */
  installationsUrl: string
}

/** Returns the servers of this test run. */
export function testServers(): TestServers {
  const servers = inject('servers')
  if (!servers) throw new Error('Unit tests have no database: name this file *.sql.test.ts or *.service.test.ts.')
  return servers
}
