import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

// Below the ephemeral ports, so outgoing connections cannot take the port between this check and its use.
const [lowest, highest] = [20_000, 32_000]
const tries = 20

/** Returns a free loopback port: the wanted one if possible. */
export async function freePort(wanted?: number): Promise<number> {
  if (wanted && (await isFree(wanted))) return wanted
  for (let i = 0; i < tries; i++) {
    const port = randomInt(lowest, highest)
    if (await isFree(port)) return port
  }
  return tryPort(0)
}

async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port).catch(() => null)) !== null
}

/** Listens on a port for a moment, and returns it; rejects when that is impossible. The host `null` is all addresses. */
export async function tryPort(port: number, host: string | null = '127.0.0.1'): Promise<number> {
  const server = createServer().listen({ port, ...(host === null ? {} : { host }) })
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo // a TCP server's address is never a string
  await once(server.close(), 'close')
  return taken
}
