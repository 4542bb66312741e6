import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { parseCidrs } from '@belfry/domain/address'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { startAwakeTime } from '@belfry/test-support/awake-time'
import { expect } from 'vitest'
import type { SendOutcome } from '../../src/egress/outcome.ts'
import { createOwnListeners } from '../../src/egress/own-listeners.ts'
import { createSender, type OutgoingRequest, type Sender, type SenderOptions } from '../../src/egress/send.ts'

const loopback = parseCidrs('127.0.0.0/8,::1/128')
const opened: (() => unknown)[] = []

/** Closes everything that the functions below have opened, the newest first. */
export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close()
}

/** Closes something else together with these. */
export function whenClosing(close: () => unknown): void {
  opened.push(close)
}

export async function setup(options: Partial<SenderOptions> = {}) {
  return { receiver: await receiverFor(), ...senderFor(options) }
}

export function senderFor(options: Partial<SenderOptions> = {}) {
  const listeners = createOwnListeners([], async () => [])
  const sender = createSender({ allowedPrivateTargets: loopback, blockedTargets: [], listeners, ...options })
  opened.push(() => sender.close())
  const send = (url: string, more: Partial<OutgoingRequest> = {}, mayShow?: RegExp) =>
    sendWith(sender, url, more, mayShow)
  return { sender, send }
}

export async function receiverFor(options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
  const receiver = await startReceiver(options)
  opened.push(() => receiver.close())
  return receiver
}

export function failure(code: string) {
  return expect.objectContaining({ kind: 'failure', code })
}

export function response(status: number, bodyTruncated = false) {
  return expect.objectContaining({ kind: 'response', status, bodyTruncated })
}

export async function within(ms: number, run: () => Promise<SendOutcome>): Promise<SendOutcome> {
  const start = performance.now()
  const awakeMs = startAwakeTime()
  const outcome = await run()
  expect(performance.now() - start).toBeGreaterThan(ms - 5)
  expect(awakeMs()).toBeLessThan(ms + 500)
  return outcome
}

export async function tcpServerFor(onConnection: (socket: Socket) => unknown) {
  const server = createServer(onConnection)
  let open = 0
  server.on('connection', socket => {
    open += 1
    socket
      .on('error', () => {})
      .on('close', () => (open -= 1))
      .resume()
  })
  return { ...(await listening(server)), openConnections: () => open }
}

export async function listening(server: Server): Promise<{ port: number }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push(() => server.close())
  const address = server.address()
  return { port: address !== null && typeof address === 'object' ? address.port : 0 }
}

async function sendWith(
  sender: Sender,
  url: string,
  more: Partial<OutgoingRequest>,
  mayShow = /$/,
): Promise<SendOutcome> {
  const outcome = await sender.send({ url, method: 'POST', headers: {}, body: null, timeoutMs: 5_000, ...more })
  if (outcome.kind === 'failure') {
    expect(outcome.message).toMatch(/^[A-Z][^.]*\.$/)
    expect(outcome.message.replace(mayShow, '')).not.toMatch(/\d|axios|undici|node/i)
  }
  return outcome
}
