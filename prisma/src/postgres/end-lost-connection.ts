import type { ClientBase } from 'pg'

/**
 * Ends a connection on which nothing came or went for so long, also between the statements of a transaction: the statement
 * on it, or the next one, fails as with any connection that broke.
 *
 * The driver has `query_timeout` for this. Its timer for each statement makes V8 keep the rows of that statement beyond
 * their use, until the next full collection, which took a tenth of all CPU time under load.
 */
export function endLostConnection(client: ClientBase, silenceMs: number): void {
  const { stream } = (client as unknown as WithSocket).connection
  stream.setTimeout(silenceMs, () => {
    // A process that was frozen reads what has come meanwhile before it says that nothing came.
    const { bytesRead } = stream
    setImmediate(() => {
      if (stream.bytesRead === bytesRead)
        stream.destroy(new Error(`Connection terminated: silent for ${silenceMs} ms.`))
    })
  })
}

// What a pool hands out is always a Client, which has these.
type WithSocket = {
  connection: {
    stream: {
      bytesRead: number
      setTimeout(ms: number, onSilence: () => void): void
      destroy(error: Error): void
    }
  }
}
