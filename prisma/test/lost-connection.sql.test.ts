import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '@belfry/test-support'
import type { ClientBase } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isTransientDatabaseError } from '../src/postgres/database-errors.ts'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { maxSilenceMs, openPool } from '../src/postgres/pool.ts'

describe('a silent connection', () => {
  let database: TestDatabase
  let relay: Awaited<ReturnType<typeof startRelay>>
  let test: ReturnType<typeof open>
  beforeAll(async () => {
    database = await createTestDatabase()
    relay = await startRelay(database.url)
    test = open(relay.url, 1)
  })
  afterAll(async () => {
    await test.pool.end()
    await relay.close()
    await database.drop()
  })

  it('fails its statement with a transient error; the next statement gets a new connection', async () => {
    await test.pool.query('SELECT 1')
    relay.fallSilent()
    const failing = test.pool.query('SELECT 2').catch(error => error)
    await test.passSilence()
    const error = await failing
    expect(error.message).toBe('Connection terminated: silent for 12000 ms.')
    expect(isTransientDatabaseError(error)).toBe(true)
    const { rows } = await test.pool.query('SELECT 3 AS n')
    expect(rows).toEqual([{ n: 3 }])
  })

  it.each(['silent', 'broken'])('fails the next statement of its transaction when it is %s between two', async how => {
    const failing = inTransaction(test.pool, async tx => {
      await tx.query('SELECT 1')
      const socket = await test.inUse()
      const closed = new Promise(resolve => socket.once('close', resolve))
      if (how === 'broken') relay.break()
      else {
        relay.fallSilent()
        socket.emit('timeout')
      }
      await closed
      await tx.query('SELECT 2')
    })
    const error = await failing.catch(error => error)
    expect(isTransientDatabaseError(error)).toBe(true)
    expect((await test.pool.query('SELECT 3 AS n')).rows).toEqual([{ n: 3 }])
  })

  it('takes the idle connections with it, so only one statement waits for the loss', async () => {
    const relay = await startRelay(database.url)
    const { pool, passSilence } = open(relay.url, 4)
    try {
      await Promise.all([1, 2, 3, 4].map(() => pool.query('SELECT pg_sleep(0.05)')))
      expect(pool.idleCount).toBe(4)
      relay.fallSilent()
      const failing = expect(pool.query('SELECT 1')).rejects.toThrow('silent for 12000 ms')
      await passSilence()
      await failing
      for (const n of [1, 2, 3]) expect((await pool.query('SELECT $1::int AS n', [n])).rows).toEqual([{ n }])
    } finally {
      await pool.end()
      await relay.close()
    }
  })

  it('stays open while data arrives, however long the statement takes', async () => {
    const silenceMs = 300
    const { pool } = open(database.url, 1, silenceMs)
    const client = await pool.connect()
    let [last, silentMs] = [performance.now(), 0]
    const measure = () => {
      silentMs = Math.max(silentMs, performance.now() - last)
      last = performance.now()
    }
    socketOf(client).on('data', measure)
    const ended = await client
      .query("SELECT repeat('x', 100000) AS text, pg_sleep(0.1) FROM generate_series(1, 6)")
      .then(({ rows }) => rows.length, String)
    measure()
    // PostgreSQL is silent, too, on a busy machine.
    if (silentMs < silenceMs) expect(ended).toBe(6)
    client.release(true)
    await pool.end()
  })

  it('stays open while it is idle', async () => {
    const client = await test.pool.connect()
    expect(socketOf(client).timeout).toBe(maxSilenceMs)
    client.release()
    expect(socketOf(client).timeout).toBe(0) // none
  })

  it('stays open when this process was frozen and the response has arrived meanwhile', async () => {
    const { pool } = open(database.url, 1)
    const client = await pool.connect()
    const socket = socketOf(client)
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
    socket.pause() // reads only a part of the response
    const answer = client.query(`SELECT repeat('x', 1000000) AS text`)
    const isSent = `SELECT FROM pg_stat_activity WHERE pid = $1 AND query LIKE '%repeat%' AND (state = 'idle' OR wait_event = 'ClientWrite')`
    await expect.poll(async () => (await test.pool.query(isSent, [rows[0].pid])).rowCount).toBe(1)
    await sleep(1) // a timer fires before the process reads
    socket.resume().emit('timeout')
    expect((await answer).rows[0].text).toHaveLength(1_000_000)
    await client.query('SELECT 1')
    client.release()
    await pool.end()
  })
})

/** Opens a pool whose connections may be silent for a time that only a test lets pass. */
function open(url: string, max: number, silenceMs = maxSilenceMs) {
  const sockets: Socket[] = []
  const pool = openPool(url, { max, onError: () => {}, silenceMs })
  pool.on('connect', client => sockets.push(socketOf(client)))
  /** Returns the socket of the connection in use. */
  const inUse = () =>
    vi.waitFor(() => {
      const socket = sockets.find(({ timeout, destroyed }) => timeout === silenceMs && !destroyed)
      if (!socket) throw new Error('No connection is in use.')
      return socket
    })
  return {
    pool,
    inUse,
    passSilence: async () => (await inUse()).emit('timeout'),
  }
}

const socketOf = (client: ClientBase) => (client as unknown as { connection: { stream: Socket } }).connection.stream

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
