import pg from 'pg'

/** Runs the work on a new connection, and closes it afterwards. */
export async function withClient<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config)
  // Without a listener, the loss of an idle connection would end the process. With one, the next statement fails.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {}) // it is lost
  }
}
