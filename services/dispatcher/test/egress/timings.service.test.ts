import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import type { RunTimings } from '@belfry/domain/run-timings'
import { afterEach, describe, expect, it } from 'vitest'
import type { SendOutcome } from '../../src/egress/outcome.ts'
import { closeAll, receiverFor, senderFor, tcpServerFor } from './setup-sender.ts'

afterEach(closeAll)

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }

function timingsOf(outcome: SendOutcome): RunTimings | null | undefined {
  return outcome.kind === 'unsent' ? undefined : outcome.timings
}

/** Matches a whole number of milliseconds from `ms` on. Timers may fire a millisecond early. */
function atLeast(ms: number) {
  return expect.toSatisfy(
    (value: unknown) => Number.isInteger(value) && Number(value) >= ms - 1 && Number(value) < 2_000,
  )
}

const opened = { ...none, dnsMs: atLeast(0), connectMs: atLeast(0) }

describe('a call measures', () => {
  it('the DNS lookup, the connect and the first byte, and on the kept-alive connection only the first byte', async () => {
    const server = await tcpServerFor(socket => socket.on('data', () => setTimeout(() => socket.write(answer), 40)))
    const resolve = () => sleep(300, ['127.0.0.1'])
    const { send } = senderFor({ resolve })
    const url = `http://target.example:${server.port}/`
    const startedAt = performance.now()
    const first = timingsOf(await send(url))
    const totalMs = performance.now() - startedAt
    expect(first).toEqual({ dnsMs: atLeast(300), connectMs: atLeast(0), tlsMs: null, firstByteMs: atLeast(40) })
    const { dnsMs, connectMs, firstByteMs } = { ...none, ...first }
    // The lookup is not counted twice. Each is rounded.
    expect(Number(dnsMs) + Number(connectMs) + Number(firstByteMs)).toBeLessThan(totalMs + 3)
    expect(timingsOf(await send(url))).toEqual({ ...none, firstByteMs: atLeast(40) })
    // A second connection to the same host uses the remembered addresses.
    const both = await Promise.all([send(url), send(url)])
    expect(both.map(timingsOf)).toContainEqual({ ...opened, firstByteMs: atLeast(40) })
  })

  it('the TLS handshake', async () => {
    const receiver = await receiverFor({ certificateFor: '127.0.0.1' })
    const { send } = senderFor({ secureContext: tls.createSecureContext({ ca: receiver.certificate ?? '' }) })
    const first = timingsOf(await send(receiver.url('/')))
    expect(first).toEqual({ ...opened, tlsMs: atLeast(1), firstByteMs: atLeast(0) })
    expect(timingsOf(await send(receiver.url('/')))).toEqual({ ...none, firstByteMs: atLeast(0) })
  })

  it('the first byte of a response whose headers never end', async () => {
    const server = await tcpServerFor(socket => socket.on('data', () => socket.write('HTTP/1.1 2')))
    const outcome = await senderFor().send(`http://127.0.0.1:${server.port}/`, { timeoutMs: 300 })
    expect(outcome).toMatchObject({ code: 'timeout', timings: { ...opened, firstByteMs: atLeast(0) } })
  })
})

describe('a call that times out measures the steps before', () => {
  it('the response', async () => {
    const server = await tcpServerFor(() => {})
    const outcome = await senderFor().send(`http://127.0.0.1:${server.port}/`, { timeoutMs: 300 })
    expect(outcome).toMatchObject({ code: 'timeout', timings: opened })
  })

  it('the response on a kept-alive connection', async () => {
    let requests = 0
    const server = await tcpServerFor(socket => socket.on('data', () => ++requests === 1 && socket.write(answer)))
    const { send } = senderFor()
    await send(`http://127.0.0.1:${server.port}/`)
    const outcome = await send(`http://127.0.0.1:${server.port}/`, { timeoutMs: 300 })
    expect(outcome).toMatchObject({ code: 'timeout', timings: none })
  })

  it('the end of the TLS handshake', async () => {
    const server = await tcpServerFor(() => {})
    const outcome = await senderFor().send(`https://127.0.0.1:${server.port}/`, { timeoutMs: 300 })
    expect(outcome).toMatchObject({ code: 'timeout', timings: opened })
  })

  it('a connection that is refused', async () => {
    const receiver = await receiverFor()
    await receiver.close()
    const outcome = await senderFor().send(receiver.url('/'))
    expect(outcome).toMatchObject({ code: 'connection_refused', timings: { ...none, dnsMs: atLeast(0) } })
  })

  it.each([
    ['does not answer', { timeoutMs: 100 }, 'timeout'],
    ['has no such name', {}, 'dns'],
  ])('a DNS server that %s, of which there are none', async (_, more, code) => {
    const { send } = senderFor({ resolve: () => sleep(200, []) })
    expect(await send('http://target.example/', more)).toMatchObject({ code, timings: null })
  })
})

it('a blocked address gets no timings: they would tell how long its name took', async () => {
  const { send } = senderFor({ allowedPrivateTargets: [], resolve: async () => ['10.0.0.1'] })
  expect(await send('http://target.example/')).toMatchObject({ code: 'blocked_address', timings: null })
})
