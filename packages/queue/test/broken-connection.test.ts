import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial } from 'node:net'
import { createTestDatabase, type TestDatabase } from '@belfry/testing'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { consumeOutboxQueue, openOutboxQueue } from '../src/index.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

it('in the middle of the set-up ends no process, and producers and consumers go on when it is over', async () => {
  const relay = await startBreakingRelay(database.url)
  const connection = { redisUrl: null, databaseUrl: relay.url, onError: () => {} }
  const queue = openOutboxQueue(connection)
  let woken = 0
  const consumer = consumeOutboxQueue(connection, () => woken++)
  onTestFinished(() => Promise.all([queue.close(), consumer.close()]).then(() => {}))
  const announce = () => queue.announce([{ message: 'a-message', label: 'test' }])
  await expect(announce()).rejects.toThrow()
  expect(relay.broken).toBeGreaterThan(0)
  relay.mend()
  await announce()
  await expect.poll(() => woken, { timeout: 10_000 }).toBe(1)
})

/** Leads to a database, and breaks each connection as soon as a transaction begins on it. */
async function startBreakingRelay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  let broken = 0
  let breaks = true
  const relay = createServer(near => {
    const far = dial(Number(target.port), target.hostname)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    far.pipe(near)
    near.on('data', bytes => {
      far.write(bytes)
      if (!breaks || !bytes.includes('BEGIN')) return
      broken++
      near.resetAndDestroy()
      far.destroy()
    })
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  onTestFinished(() => void relay.close())
  const port = String((relay.address() as AddressInfo).port)
  return {
    url: Object.assign(new URL(databaseUrl), { port }).href,
    mend() {
      breaks = false
    },
    get broken() {
      return broken
    },
  }
}
