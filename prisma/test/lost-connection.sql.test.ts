import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '@belfry/test-support'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTransientDatabaseError } from '../src/postgres/database-errors.ts'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { openPool, type Pool } from '../src/postgres/pool.ts'

const silenceMs = 300

describe('a silent connection', () => {
  let database: TestDatabase
  let relay: Awaited<ReturnType<typeof startRelay>>
  let pool: Pool
  const errors: Error[] = []
  beforeAll(async () => {
    database = await createTestDatabase()
    relay = await startRelay(database.url)
    pool = openPool(relay.url, { max: 1, onError: error => errors.push(error), silenceMs })
  })
  afterAll(async () => {
    await pool.end()
    await relay.close()
    await database.drop()
  })

  it('fails its statement with a transient error; the next statement gets a new connection', async () => {
    await pool.query('SELECT 1')
    relay.fallSilent()
    const startedAt = performance.now()
    const error = await pool.query('SELECT 2').catch(error => error)
    expect(performance.now() - startedAt).toBeGreaterThan(silenceMs - 2)
    expect(error.message).toBe('Connection terminated: silent for 300 ms.')
    expect(isTransientDatabaseError(error)).toBe(true)
    const { rows } = await pool.query('SELECT 3 AS n')
    expect(rows).toEqual([{ n: 3 }])
  })

  it.each(['silent', 'broken'])('fails the next statement of its transaction when it is %s between two', async how => {
    const failing = inTransaction(pool, async tx => {
      await tx.query('SELECT 1')
      if (how === 'silent') relay.fallSilent()
      else relay.break()
      await sleep(silenceMs * 2)
      await tx.query('SELECT 2')
    })
    const error = await failing.catch(error => error)
    expect(isTransientDatabaseError(error)).toBe(true)
    expect((await pool.query('SELECT 3 AS n')).rows).toEqual([{ n: 3 }])
  })

  it('takes the idle connections with it, so only one statement waits for the loss', async () => {
    const relay = await startRelay(database.url)
    const many = openPool(relay.url, { max: 4, onError: () => {}, silenceMs })
    try {
      await Promise.all([1, 2, 3, 4].map(() => many.query('SELECT pg_sleep(0.05)')))
      expect(many.idleCount).toBe(4)
      relay.fallSilent()
      await expect(many.query('SELECT 1')).rejects.toThrow('silent for 300 ms')
      for (const n of [1, 2, 3]) expect((await many.query('SELECT $1::int AS n', [n])).rows).toEqual([{ n }])
    } finally {
      await many.end()
      await relay.close()
    }
  })

  it('stays open while data arrives, however long the statement takes', async () => {
    const { rows } = await pool.query("SELECT repeat('x', 100000) AS text, pg_sleep(0.1) FROM generate_series(1, 6)")
    expect(rows).toHaveLength(6)
  })

  it('stays open while it is idle', async () => {
    const before = await backend(pool)
    await sleep(silenceMs * 2)
    expect(errors).toEqual([])
    expect(await backend(pool)).toBe(before)
  })

  it('stays open when this process was frozen and the response has arrived meanwhile', async () => {
    const before = await backend(pool)
    const answer = pool.query('SELECT 4 AS n, pg_sleep(0.1)')
    await sleep(20) // it has been sent
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, silenceMs * 2)
    expect((await answer).rows[0].n).toBe(4)
    expect(await backend(pool)).toBe(before)
  })
})

async function backend(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
  return rows[0].pid
}

/** Starts a proxy before a database that can silence or break its current connections. */
async function startRelay(databaseUrl: string) {
  const url = new URL(databaseUrl)
  const target = { host: url.hostname, port: Number(url.port || 5432) }
  const pairs = new Set<[Socket, Socket]>()
  const server = createServer(client => {
    const backend = connect(target)
    pairs.add([client, backend])
    client.pipe(backend).pipe(client)
    for (const socket of [client, backend]) socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    fallSilent() {
      for (const [client, backend] of pairs) {
        client.unpipe()
        backend.unpipe()
        client.resume()
        backend.resume()
      }
    },
    break() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
    },
    async close() {
      this.break()
      server.close()
      await once(server, 'close')
    },
  }
}
