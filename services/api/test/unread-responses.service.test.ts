import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Response } from 'express'
import { afterAll, expect, it } from 'vitest'
import { sendResponse } from '../src/http/response.ts'

const megabyte = 1024 * 1024
const megabytes = 16

async function* endless() {
  for (;;) yield 'x'.repeat(megabyte)
}

const opened = new Map<Socket, boolean>()
let sent = 0
const server = createServer((request, response) => {
  opened.set(request.socket, true)
  request.socket.on('close', () => opened.set(request.socket, false))
  const reply = request.url === '/pieces' ? { pieces: endless() } : { text: 'x'.repeat(megabytes * megabyte) }
  void sendResponse(response as Response, { status: 200, ...reply })
  sent++
}).listen(0, '127.0.0.1')
const port = () => (server.address() as AddressInfo).port
afterAll(() => {
  for (const socket of opened.keys()) socket.destroy()
  server.close()
})

/** Sends a request and does not read its response. */
async function request(path: string): Promise<void> {
  const before = sent
  const socket = connect(port(), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await expect.poll(() => sent).toBe(before + 1)
}

it('responses that callers do not read keep 64 MiB together: the oldest are closed, and new ones are sent', async () => {
  for (let i = 0; i < 6; i++) await request('/text')
  await expect.poll(() => [...opened.values()]).toEqual([false, false, true, true, true, true])
  const response = await fetch(`http://127.0.0.1:${port()}/text`)
  expect(await response.text()).toHaveLength(megabytes * megabyte)
  opened.clear()
  for (let i = 0; i < 20; i++) await request('/pieces')
  await expect.poll(() => [...opened.values()].filter(isOpen => isOpen).length, { timeout: 20_000 }).toBe(16)
})
