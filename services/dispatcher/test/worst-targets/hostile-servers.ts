import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createCertificate } from '@belfry/test-support'

/** A server that answers each request with a text, and then with another one again and again. */
export type HostileServer = {
  name: string
  head: string
  /** Default: none. */
  unit?: string
  /** How often. Default: without an end. */
  count?: number
  /** The pause before each. Default: none. */
  everyMs?: number
  /** Whether it reads no requests. Default: it does. */
  isDeaf?: boolean
  /** Uses TLS 1.2 with a finite-field group of so many bits. Default: plain HTTP. */
  groupBits?: number
}

/** Runs the servers in a process of their own, whose work is not measured. Returns their ports, and what ends them. */
export async function startHostileServers(
  servers: readonly HostileServer[],
): Promise<{ ports: number[]; stop(): void }> {
  const content = servers.map(({ groupBits, ...server }) =>
    groupBits === undefined
      ? server
      : { ...server, tls: { ...createCertificate('127.0.0.1'), dhparam: groupOf(groupBits) } },
  )
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin?.end(JSON.stringify(content))
  if (!child.stdout) throw new Error('The process has no output.')
  const [ports] = await once(child.stdout, 'data')
  return { ports: JSON.parse(String(ports)), stop: () => void child.kill('SIGKILL') }
}

const program = `
  const net = require('node:net'), tls = require('node:tls')
  const serve = ({ head, unit, count = Infinity, everyMs, isDeaf }) => socket => {
    socket.on('error', () => {})
    if (isDeaf) return socket.pause()
    socket.once('data', () => {
      socket.resume().write(head, 'latin1')
      let left = unit === undefined ? 0 : count
      const send = () => {
        while (left-- > 0 && !socket.destroyed) {
          const isRead = socket.write(unit, 'latin1')
          if (everyMs !== undefined) return setTimeout(send, everyMs)
          if (!isRead) return socket.once('drain', send)
        }
      }
      send()
    })
  }
  const listen = async server => {
    const { tls: options } = server
    const dhe = { ciphers: 'DHE-RSA-AES128-GCM-SHA256:DHE-ECDSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }
    const listening = options ? tls.createServer({ ...options, ...dhe }, serve(server)) : net.createServer(serve(server))
    listening.on('tlsClientError', () => {})
    await new Promise(resolve => listening.listen(0, '127.0.0.1', resolve))
    return listening.address().port
  }
  const chunks = []
  process.stdin.on('data', chunk => chunks.push(chunk)).on('end', async () => {
    process.stdout.write(JSON.stringify(await Promise.all(JSON.parse(Buffer.concat(chunks)).map(listen))))
  })
`

// The parameters in DER: the modulus need not be a prime.
function groupOf(bits: number): string {
  const modulus = Buffer.alloc(bits / 8, 0xb5)
  const integer = (bytes: Buffer) =>
    tagged(2, bytes.readUInt8(0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]))
  const base64 = tagged(0x30, Buffer.concat([integer(modulus), integer(Buffer.from([2]))])).toString('base64')
  return `-----BEGIN DH PARAMETERS-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END DH PARAMETERS-----\n`
}

function tagged(tag: number, value: Buffer): Buffer {
  const { length } = value
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}
