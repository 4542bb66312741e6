import pg from 'pg'
import { retryDatabase, startupPauses } from '../postgres/retry-database.ts'

/** Resolves once the server accepts connections. Rejects after a minute, and at once for a final error. */
export async function waitForDatabase(databaseUrl: string, onWait: (reason: string) => void): Promise<void> {
  try {
    await retryDatabase(() => ping(databaseUrl), {
      ...startupPauses,
      onWait: error => onWait(describe(error)),
      isRetryable: error => !isFinal(error),
    })
  } catch (error) {
    if (isFinal(error)) throw error
    throw new Error(`The database did not answer within a minute: ${describe(error)}`, { cause: error })
  }
}

async function ping(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: startupPauses.maxPauseMs })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}

// An answer of the server, such as "wrong password", is final unless the server is starting up or full.
function isFinal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== '57P03' && error.code !== '53300'
}

// A name with several addresses fails with one error for each, and the message of the whole is empty.
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ')
  return error instanceof Error ? error.message : String(error)
}
