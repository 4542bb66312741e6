import pg from 'pg'
import { findPrimary } from '../postgres/primary-client.ts'
import { retryDatabase, startupPauses } from '../postgres/retry-database.ts'
import { withClient } from '../postgres/with-client.ts'

/**
 * Resolves with the URL of the primary once it accepts connections. Rejects after a minute, and at once for a final error.
 * @param onWait - Receives each reason to wait once.
 */
export async function waitForDatabase(databaseUrl: string, onWait: (reason: string) => void): Promise<string> {
  let reported = ''
  try {
    return await retryDatabase(() => connectOnce(databaseUrl), {
      ...startupPauses,
      onWait(error) {
        const reason = describe(error)
        if (reason !== reported) onWait(reason)
        reported = reason
      },
      isRetryable: error => !isFinal(error),
    })
  } catch (error) {
    if (isFinal(error)) throw error
    throw new Error(`The database did not answer within a minute: ${describe(error)}`, { cause: error })
  }
}

async function connectOnce(databaseUrl: string): Promise<string> {
  const url = await findPrimary(databaseUrl)
  await withClient({ connectionString: url, connectionTimeoutMillis: startupPauses.maxPauseMs }, async () => {})
  return url
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
