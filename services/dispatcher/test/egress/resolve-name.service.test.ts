import { createSocket } from 'node:dgram'
import { lookup as lookUpAtSystem } from 'node:dns/promises'
import { once } from 'node:events'
import { startAwakeTime } from '@belfry/test-support/awake-time'
import { expect, it, onTestFinished } from 'vitest'
import { createResolver } from '../../src/egress/resolve-name.ts'

it('resolves the names of the operating system', async () => {
  const expected = await lookUpAtSystem('localhost', { all: true })
  expect(await createResolver()('localhost')).toEqual(expected.map(({ address }) => address))
})

it('handles more unknown system names at once than it looks up at a time', async () => {
  const resolve = createResolver()
  const unknown = Array.from({ length: 3 }, (_, i) => resolve(`no-such-host-${i}`))
  const outcomes = await Promise.allSettled([...unknown, resolve('localhost')])
  expect(outcomes.map(({ status }) => status)).toEqual([...Array(3).fill('rejected'), 'fulfilled'])
})

it('finds addresses of both families', async () => {
  const { resolve } = await nameServer(() => 'live')
  expect(await resolve('both.example.net')).toEqual(['8.8.8.8', '2606:4700::1'])
})

it('does not wait for an address family that the server does not answer for', async () => {
  const { resolve } = await nameServer((_, type) => (type === 'A' ? 'live' : 'silent'))
  const awakeMs = startAwakeTime()
  expect(await resolve('only-v4.example.net')).toEqual(['8.8.8.8'])
  expect(awakeMs()).toBeLessThan(2_000)
})

it('resolves a name without waiting for a hundred others whose servers are silent, by DNS or by the system', async () => {
  const { resolve, asked } = await nameServer(name => (name.startsWith('dead') ? 'silent' : 'live'))
  const dead = Array.from({ length: 100 }, (_, i) => resolve(`dead-${i}.example.net`))
  let deadEnded = 0
  for (const look of dead) look.finally(() => deadEnded++).catch(() => {})
  expect(await resolve('live.example.net')).toEqual(['8.8.8.8', '2606:4700::1'])
  expect(await resolve('localhost')).toContain('127.0.0.1')
  expect(deadEnded).toBe(0)
  expect(await Promise.all(dead)).toEqual(Array(100).fill([]))
  expect(asked.size).toBe(101)
  expect(await resolve('localhost')).toContain('127.0.0.1')
}, 20_000)

type Answer = 'live' | 'silent'

/** A name server that knows two addresses for every name, or never answers. */
async function nameServer(behave: (name: string, type: 'A' | 'AAAA') => Answer) {
  const asked = new Set<string>()
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12)
    const name = nameIn(query)
    const type = query.readUInt16BE(end + 1) === 1 ? 'A' : 'AAAA'
    asked.add(name)
    if (behave(name, type) === 'live') socket.send(answerTo(query.subarray(0, end + 5), type), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { asked, resolve: createResolver([`127.0.0.1:${socket.address().port}`]) }
}

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  return labels.join('.')
}

function answerTo(question: Buffer, type: 'A' | 'AAAA'): Buffer {
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180, 2) // a response, without an error
  header.writeUInt16BE(1, 6) // one answer
  header.writeUInt32BE(0, 8)
  const data = type === 'A' ? Buffer.from([8, 8, 8, 8]) : Buffer.from('26064700000000000000000000000001', 'hex')
  const record = Buffer.from([0xc0, 12, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, data.length])
  return Buffer.concat([header, question.subarray(12), record, data])
}
