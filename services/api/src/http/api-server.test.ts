import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import express from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { closeServer, createExpressServer } from './api-server.ts'
import { whenOver } from './response.ts'

let server: Server
afterEach(() => {
  server.close()
  server.closeAllConnections()
})

/** Starts a server that responds to each path with the path, and records the served paths. */
async function start(): Promise<{ served: string[]; dial: () => Promise<Socket> }> {
  const served: string[] = []
  const app = express()
  app.use((request, response) => {
    served.push(request.path)
    response.send(request.path)
  })
  server = createExpressServer(app, {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    served,
    async dial() {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    },
  }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`

/** Reads until a number of responses has arrived, and returns their bodies. */
async function bodies(socket: Socket, count: number): Promise<string[]> {
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    const found = [...text.matchAll(/\r\n\r\n(\/[a-z\d]+)/g)].map(([, body = '']) => body)
    if (found.length === count) return found
  }
  return []
}

describe('createExpressServer', () => {
  it('responds to the requests of one connection in their order, also when they arrive in one packet', async () => {
    const { dial } = await start()
    const socket = await dial()
    socket.write(['/one', '/two', '/three'].map(get).join(''))
    expect(await bodies(socket, 3)).toEqual(['/one', '/two', '/three'])
  })

  it('serves concurrent requests of many connections', async () => {
    const { dial } = await start()
    const sockets = await Promise.all(Array.from({ length: 20 }, dial))
    for (const [index, socket] of sockets.entries()) socket.write(get(`/${index}`))
    const answers = await Promise.all(sockets.map(socket => bodies(socket, 1)))
    expect(answers.flat()).toEqual(sockets.map((_, index) => `/${index}`))
  })

  it('skips callers that have disconnected meanwhile, and serves the others', async () => {
    const { served, dial } = await start()
    server.prependListener('request', (request: IncomingMessage) => {
      if (request.url === '/left') request.destroy()
    })
    const [leaving, staying] = [await dial(), await dial()]
    leaving.on('error', () => {})
    leaving.write(get('/left'))
    await once(leaving, 'close')
    staying.write(get('/stayed'))
    expect(await bodies(staying, 1)).toEqual(['/stayed'])
    expect(served).toEqual(['/stayed'])
  })
})

describe('whenOver', () => {
  /** Starts a server that counts the requests that are not over, and does not answer `/never`. */
  async function startCounting() {
    const open = new Set<unknown>()
    const app = express()
    app.use((request, response) => {
      open.add(request)
      whenOver(request, () => open.delete(request))
      if (request.path !== '/never') response.send(request.path)
    })
    server = createExpressServer(app, {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await once(socket, 'connect')
    return { socket, open: () => open.size }
  }

  it('tells that a response is sent, on a connection that stays open, also without the announced body', async () => {
    const { socket, open } = await startCounting()
    const announcing = get('/three').replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\n')
    for (const request of [get('/one'), get('/two'), announcing]) {
      socket.write(request)
      await once(socket, 'data')
      await expect.poll(open).toBe(0)
    }
  })

  it('tells that the caller has left, also of a request that waits behind another', async () => {
    const { socket, open } = await startCounting()
    socket.write(get('/never').repeat(3))
    await expect.poll(open).toBe(3)
    socket.destroy()
    await expect.poll(open).toBe(0)
  })
})

describe('closeServer', () => {
  const closeDuringRequest = () => {
    server.keepAliveTimeout = 60_000
    return new Promise<void>(resolve => {
      server.prependOnceListener('request', () => closeServer(server).then(resolve))
    })
  }

  it('ends although a caller keeps its connection busy', async () => {
    const { dial } = await start()
    const closed = closeDuringRequest()
    const socket = await dial()
    socket.on('data', () => socket.write(get('/again'))).on('error', () => {})
    socket.write(get('/first'))
    await closed
  })

  it('answers requests in flight, and does not wait for another request of its caller', async () => {
    const { dial } = await start()
    const closed = closeDuringRequest()
    const socket = await dial()
    socket.write(get('/last'))
    expect(String(await once(socket, 'data'))).toContain('/last')
    await closed
  })
})
