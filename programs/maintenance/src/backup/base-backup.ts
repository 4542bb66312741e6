import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import pg from 'pg'

/**
 * Copies the data directory of a running PostgreSQL into a compressed tar, with the log that makes it consistent. It uses the
 * replication protocol, as pg_basebackup does, because the embedded PostgreSQL has no such program.
 */
export async function copyCluster(url: string, file: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, replication: 'true' } as pg.ClientConfig)
  client.on('error', () => {}) // the query that waits rejects
  const gzip = createGzip({ level: 6 })
  const output = createWriteStream(file, { mode: 0o600 })
  const written = finished(gzip.pipe(output))
  try {
    await client.connect()
    // Keeps the log that the copy needs; without it a checkpoint during the copy may remove it. It ends with the connection.
    await client.query(`CREATE_REPLICATION_SLOT belfry_backup_${process.pid} TEMPORARY PHYSICAL RESERVE_WAL`)
    const copy = new BaseBackup(gzip)
    client.query(copy as never) // pg accepts any object with these methods
    await Promise.race([copy.done, written.then(() => Promise.reject(new Error('The file ended early.')))])
    gzip.end()
    await written
  } finally {
    gzip.destroy()
    await client.end().catch(() => {})
  }
}

const command = `BASE_BACKUP (LABEL 'belfry', CHECKPOINT 'fast', WAL true, MANIFEST 'no')`

// The first byte of each message names its content.
const newArchive = 'n'.charCodeAt(0)
const data = 'd'.charCodeAt(0)

type Connection = { query(text: string): void; stream: { pause(): void; resume(): void } }

/** A query of node-postgres whose result is the stream of a base backup. */
class BaseBackup {
  readonly done: Promise<void>
  readonly #target: Writable
  #archives = 0
  #isPaused = false
  #resolve: () => void = () => {}
  #reject: (error: Error) => void = () => {}
  #error: Error | null = null

  constructor(target: Writable) {
    this.#target = target
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: Connection): void {
    connection.query(command)
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: Connection): void {
    if (chunk[0] === newArchive && ++this.#archives > 1) {
      // The second one would belong to a tablespace. The embedded PostgreSQL never has tablespaces.
      this.#error ??= new Error('The cluster has tablespaces, which this backup does not support.')
    }
    if (chunk[0] !== data || this.#error) return
    // The parser reuses its buffer.
    const hasRoom = this.#target.write(Buffer.from(chunk.subarray(1)))
    // Messages that were received already still arrive.
    if (!hasRoom && !this.#isPaused) void this.#pause(connection)
  }

  async #pause(connection: Connection): Promise<void> {
    this.#isPaused = true
    connection.stream.pause()
    await once(this.#target, 'drain').catch(() => {}) // the caller sees the error of the stream
    this.#isPaused = false
    connection.stream.resume()
  }

  handleError(error: Error): void {
    this.#error ??= error
    this.#reject(this.#error)
  }

  handleReadyForQuery(): void {
    if (this.#error) this.#reject(this.#error)
    else this.#resolve()
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
}
