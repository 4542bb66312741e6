import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createCertificate } from '@belfry/test-support'
import { afterEach, expect, it } from 'vitest'
import { createTlsSenders } from '../../src/egress/tls-senders.ts'
import { anOAuthConnection } from '../connections/an-oauth-connection.ts'
import { closeAll, senderFor, tcpServerFor } from './setup-sender.ts'

afterEach(closeAll)

/** Reads the cipher suites and the groups that a ClientHello offers (RFC 8446, 4.1.2). */
function readHello(hello: Buffer): { suites: number[]; groups: number[] } {
  const numbers = (from: number, bytes: number) =>
    Array.from({ length: bytes / 2 }, (_, i) => hello.readUInt16BE(from + 2 * i))
  let at = 5 + 4 + 2 + 32 // the heads of record and message, the version, and the random bytes
  at += 1 + hello.readUInt8(at) // the session
  const suites = numbers(at + 2, hello.readUInt16BE(at))
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at) + 2 // the compression methods, and the length of the extensions
  while (hello.readUInt16BE(at) !== supportedGroups) at += 4 + hello.readUInt16BE(at + 2)
  return { suites, groups: numbers(at + 6, hello.readUInt16BE(at + 4)) }
}

const supportedGroups = 10
// DHE with AES in its modes, ChaCha20, ARIA and Camellia: the ranges of the IANA registry.
const isDhe = (suite: number) =>
  [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa, 0xc09e, 0xc09f, 0xc0a2, 0xc0a3, 0xc052, 0xc053].includes(suite)
const isLargeGroup = (group: number) => group >= 0x102 && group < 0x200 // ffdhe4096 and above

const { cert, key } = createCertificate('127.0.0.1')

it.each([
  ['of all calls', () => senderFor().sender],
  [
    'of a connection with certificates',
    () => {
      const settings = { clientCertificate: cert }
      const connection = anOAuthConnection({ settings, secrets: { clientSecret: 'secret', clientKey: key } })
      return createTlsSenders(secureContext => senderFor({ secureContext }).sender).of(connection)
    },
  ],
])('the sender %s offers no key exchange whose size the target could choose', async (_, open) => {
  let connected: (socket: Socket) => void = () => {}
  const connection = new Promise<Socket>(resolve => {
    connected = resolve
  })
  const { port } = await tcpServerFor(socket => connected(socket))
  const url = `https://127.0.0.1:${port}/`
  const sending = open()?.send({ url, method: 'GET', headers: {}, body: null, timeoutMs: 5_000 })
  const socket = await connection
  const [hello] = await once(socket, 'data')
  socket.destroy()
  await sending
  const { suites, groups } = readHello(hello)
  expect(suites.length).toBeGreaterThan(5)
  expect(suites.filter(isDhe)).toEqual([])
  expect(groups).toContain(0x1d) // X25519
  expect(groups.filter(isLargeGroup)).toEqual([])
})
