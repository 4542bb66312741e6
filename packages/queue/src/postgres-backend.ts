import { createPostgresBackend, type PostgresConnection } from 'bullmq'
import pg from 'pg'

/** What BullMQ needs to keep its queues in PostgreSQL. Sets its tables up when they are missing. */
export function postgresConnection(databaseUrl: string, maxConnections: number) {
  return { connectionString: databaseUrl, max: maxConnections, migrate: true, Client: CalmClient }
}

/** BullMQ's own backend, but for what it does when the database goes away while it sets itself up: it tries again with its next statement. */
export const createCalmPostgresBackend: typeof createPostgresBackend = (...of) => {
  const backend = createPostgresBackend(...of)
  forgetFailure(backend.connection)
  return backend
}

// It remembers the promise of its set-up, also one that was rejected, and asks for it before each statement.
function forgetFailure(connection: PostgresConnection): void {
  const setUp = connection.waitUntilReady.bind(connection)
  connection.waitUntilReady = async () => {
    try {
      await setUp()
    } catch (error) {
      Object.assign(connection, { readyPromise: undefined })
      throw error
    }
  }
}

// It listens for errors of the pool and of statements, not for those of a connection that it has taken from the pool: one that
// breaks in a transaction would end the process.
class CalmClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('error', () => {})
  }
}
