import type { Socket } from 'node:net'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { startAwakeTime } from '@belfry/test-support/awake-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { closeAll, senderFor, tcpServerFor } from './setup-sender.ts'

afterEach(closeAll)

const answerCount = propertyRuns(10_000)
const atOnce = 100
const timeoutMs = 500

const valid = [
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx: y\r\n\r\n5\r\nhello\r\n0\r\ntrailer: z\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.0 500 No\r\n\r\nuntil the end',
  'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\nset-cookie: a=b\r\nset-cookie: c=d\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 429 Slow\r\nretry-after: 120\r\ncontent-encoding: gzip\r\nconnection: close\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
].map(text => Buffer.from(text, 'latin1'))

const salt = [
  '\r\n',
  '\n',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  'HTTP/1.1 100 x\r\n\r\n',
  'content-length: 99999999999\r\n',
  '-1',
  '\xff',
].concat(['transfer-encoding: chunked\r\n', 'ffffffffffffffff\r\n', '0\r\n\r\n', 'x'.repeat(20_000)])

it(`survives ${answerCount} broken responses, and returns an outcome of each in time`, async () => {
  const server = await tcpServerFor(socket => answerTo(socket))
  const { send } = senderFor()
  const odd: unknown[] = []
  let next = 0
  const callers = Array.from({ length: atOnce }, async () => {
    for (let index = next++; index < answerCount; index = next++) {
      const awakeMs = startAwakeTime()
      const outcome = await send(`http://127.0.0.1:${server.port}/${index}`, { timeoutMs }).catch(error => ({ error }))
      const isKnown = 'kind' in outcome && (outcome.kind === 'response' ? outcome.status >= 200 : isTargets(outcome))
      const isLate = awakeMs() > timeoutMs + 2_000
      if (!isKnown || isLate) odd.push([index, outcome])
    }
  })
  await Promise.all(callers)
  expect(odd).toEqual([])
}, 120_000)

function isTargets(outcome: { kind: string; code?: string }): boolean {
  return ['timeout', 'connection_reset', 'stale_connection', 'invalid_response'].includes(outcome.code ?? '')
}

function answerTo(socket: Socket): void {
  let request = ''
  socket.on('data', chunk => {
    request += chunk
    const index = /^POST \/(\d+) .*\r\n\r\n/s.exec(request)?.[1]
    if (index === undefined) return
    request = ''
    socket.write(mutilate(Number(index)))
    // Some leave it open, so only the deadline ends it.
    if (Number(index) % 100 !== 0) socket.end()
  })
}

/** The same bytes for the same number. */
function mutilate(index: number): Buffer {
  let state = index + 1
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  random(1)
  let bytes = valid[random(valid.length)] ?? Buffer.alloc(0)
  for (let times = random(4); times >= 0; times--) {
    const at = random(bytes.length)
    const to = at + random(bytes.length - at)
    const [head, middle, tail] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
    const noise = Buffer.from(Array.from({ length: random(8) }, () => random(256)))
    const extra = Buffer.from(salt[random(salt.length)] ?? '', 'latin1')
    const ways = [[head], [head, tail], [head, middle, middle, tail], [head, noise, tail], [head, extra, middle, tail]]
    bytes = Buffer.concat(ways[random(ways.length)] ?? [])
  }
  return bytes
}

it('sends exactly the headers that creation accepts', async () => {
  const received: string[] = []
  const server = await tcpServerFor(socket =>
    socket.on('data', chunk => {
      received.push(chunk.toString('latin1'))
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    }),
  )
  const { send } = senderFor()
  const token = fc.string({ unit: fc.constantFrom(..."!#$%&'*+-.^_`|~09azAZ"), minLength: 1, maxLength: 12 })
  const latin1 = fc.string({
    unit: fc.integer({ min: 0, max: 0x110 }).map(code => String.fromCharCode(code)),
    maxLength: 6,
  })
  const known = fc.constantFrom(
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Expect',
    'Upgrade',
    'Cookie',
  )
  const headers = fc.dictionary(fc.oneof(token, token, latin1, known), fc.oneof(latin1, fc.string()), { maxKeys: 5 })
  const runs = propertyRuns(3_000)
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(headers, async given => {
      if (findHeaderProblems(given).length > 0) return
      accepted++
      received.length = 0
      expect(await send(`http://127.0.0.1:${server.port}/`, { headers: given })).toMatchObject({ status: 200 })
      const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}`)
      const frame = [
        `POST / HTTP/1.1`,
        `host: 127.0.0.1:${server.port}`,
        'connection: keep-alive',
        ...lines,
        'content-length: 0',
      ]
      expect(received.join('')).toBe(`${frame.join('\r\n')}\r\n\r\n`)
    }),
    { numRuns: runs, seed: 20261121 },
  )
  expect(accepted).toBeGreaterThan(runs / 10)
}, 60_000)
