import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FaultProxy, startProxy } from './proxy.ts'

const echo = createServer(socket => socket.on('error', () => {}).pipe(socket))
let proxy: FaultProxy
let client: Socket

beforeEach(async () => {
  if (!echo.listening) await once(echo.listen(0, '127.0.0.1'), 'listening')
  proxy = await startProxy((echo.address() as AddressInfo).port)
  client = connect(proxy.port, '127.0.0.1')
  await once(client, 'connect')
})
afterEach(async () => {
  client.destroy()
  await proxy.close()
})

async function ask(text: string): Promise<string> {
  client.write(text)
  const [answer] = await once(client, 'data')
  return String(answer)
}

it('passes', async () => {
  expect(await ask('a')).toBe('a')
})

it('holds everything in a black hole and lets it go afterwards', async () => {
  await ask('a')
  await proxy.set({ does: 'black_hole' })
  const answered = ask('b')
  const first = await Promise.race([answered, new Promise(resolve => setTimeout(resolve, 200, 'silence'))])
  expect(first).toBe('silence')
  await proxy.set({ does: 'pass' })
  expect(await answered).toBe('b')
})

it('delays both ways', async () => {
  await proxy.set({ does: 'delay', ms: 100 })
  const began = performance.now()
  await ask('a')
  expect(performance.now() - began).toBeGreaterThanOrEqual(195)
})

it('resets, refuses, and takes connections again', async () => {
  const ended = once(client, 'error')
  await proxy.set({ does: 'reset' })
  expect((await ended)[0]).toMatchObject({ code: 'ECONNRESET' })
  await proxy.set({ does: 'refuse' })
  const [refused] = await once(connect(proxy.port, '127.0.0.1'), 'error')
  expect(refused).toMatchObject({ code: 'ECONNREFUSED' })
  await proxy.set({ does: 'pass' })
  client = connect(proxy.port, '127.0.0.1')
  expect(await ask('a')).toBe('a')
})
