import { createServer, connect as openSocket } from 'node:net'
import { freePort } from '@belfry/embedded'
import { createTestDatabase } from '@belfry/test-support'
import { expect, it, onTestFinished, vi } from 'vitest'
import { waitForDatabase } from '../src/migrate/wait-for-database.ts'

it('waits until the server accepts connections', async () => {
  const { url } = await testDatabase()
  const target = new URL(url)
  const proxy = createServer(socket => {
    const upstream = openSocket(Number(target.port), target.hostname)
    // The server resets a connection whose client has ended.
    for (const end of [socket, upstream]) end.on('error', () => {})
    socket.pipe(upstream).pipe(socket)
  })
  onTestFinished(() => void proxy.close())
  const port = await freePort()
  const proxied = new URL(url)
  proxied.hostname = '127.0.0.1'
  proxied.port = String(port)
  const reasons: string[] = []
  await waitForDatabase(proxied.href, reason => {
    reasons.push(reason)
    if (reasons.length === 1) proxy.listen(port, '127.0.0.1')
  })
  expect(reasons[0]).toContain('ECONNREFUSED')
})

it('does not wait for a database that does not exist', async () => {
  const { url } = await testDatabase()
  const missing = new URL(url)
  missing.pathname = 'no_such_database'
  const onWait = vi.fn()
  await expect(waitForDatabase(missing.href, onWait)).rejects.toThrow('"no_such_database" does not exist')
  expect(onWait).not.toHaveBeenCalled()
})

async function testDatabase() {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  return database
}
