import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const patienceMs = 60_000
const longestDelayMs = 5000

/** Resolves once the server accepts connections: tries after 0.1 s, doubled up to 5 s, and rejects after a minute. */
export async function waitForDatabase(databaseUrl: string, onWait: (reason: string) => void): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    try {
      return await ping(databaseUrl)
    } catch (error) {
      if (isFinal(error)) throw error
      const reason = describe(error)
      if (performance.now() + delayMs > giveUpAt) {
        throw new Error(`The database did not answer within a minute: ${reason}`, { cause: error })
      }
      onWait(reason)
      await sleep(delayMs)
    }
  }
}

async function ping(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: longestDelayMs })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}

// An answer is final, such as a wrong password, unless it says that the server is starting up or full.
function isFinal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== '57P03' && error.code !== '53300'
}

// A name with several addresses fails with one error for each and an empty message.
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ')
  return error instanceof Error ? error.message : String(error)
}
