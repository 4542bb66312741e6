import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { expect, it } from 'vitest'
import { openClock } from './clock.ts'

// Where Node's `fetch` finds its agent.
const agent = Symbol.for('undici.globalDispatcher.1')

// The limit of `fetch` is five minutes. Here it is half a second, because moves of six minutes are slow to test.
it('waits for a move for longer than `fetch` waits for a response', async () => {
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.end('{"now":"2030-01-01T00:00:00.000Z","frozen":false}'), 2_500)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await fetch('data:,') // creates the agent
  const before = Reflect.get(globalThis, agent)
  Object.assign(globalThis, { [agent]: new Agent({ headersTimeout: 500 }) })
  try {
    const moving = openClock(url, () => {}).advance({ days: 1 })
    await expect(fetch(url)).rejects.toThrow('fetch failed')
    expect((await moving).getUTCFullYear()).toBe(2030)
  } finally {
    Object.assign(globalThis, { [agent]: before })
    server.closeAllConnections()
    server.close()
  }
})
