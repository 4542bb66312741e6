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
    const copy = client.query(new BaseBackup(gzip))
    await Promise.race([once(copy, 'end'), written.then(() => Promise.reject(new Error('The file ended early.')))])
    if (copy.archives > 1) throw new Error('The cluster has tablespaces, which this backup does not support.')
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

type Connection = { stream: { pause(): void; resume(): void } }

/** A query of node-postgres that writes the stream of a base backup to a target. */
class BaseBackup extends pg.Query {
  /** A second one would belong to a tablespace. The embedded PostgreSQL never has tablespaces. */
  archives = 0
  readonly #target: Writable
  #isPaused = false

  constructor(target: Writable) {
    super(command)
    this.#target = target
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: Connection): void {
    if (chunk[0] === newArchive) this.archives += 1
    if (chunk[0] !== data || this.archives > 1) return
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
}
