import { once } from './once.ts'

type Client = {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  release(destroy?: boolean): void
}

/**
 * Does the work of a webhook once, in a new transaction on a pool of `pg`. Resolves with the answer after the commit.
 * @param work - The effect, by the client of the transaction.
 */
export async function onceInPool<PoolClient extends Client, Answer>(
  pool: { connect(): Promise<PoolClient> },
  id: string,
  work: (client: PoolClient) => Answer | PromiseLike<Answer>,
): Promise<Answer> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const answer = await once(
      (text, ...values) => client.query(String.raw(text, '$1', '$2'), values),
      id,
      () => work(client),
    )
    await client.query('COMMIT')
    client.release()
    return answer
  } catch (error) {
    client.release(true) // Closing the connection rolls back.
    throw error
  }
}
