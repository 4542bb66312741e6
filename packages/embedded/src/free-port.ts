import { randomInt } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'

// Below the ephemeral ports, so outgoing connections cannot take the port between this check and its use.
const [lowest, highest] = [20_000, 32_000]
const tries = 20

/** Returns a free loopback port: the wanted one if possible. */
export async function freePort(wanted?: number): Promise<number> {
  if (wanted !== undefined && wanted !== 0 && (await isFree(wanted))) return wanted
  for (let i = 0; i < tries; i++) {
    const port = randomInt(lowest, highest)
    if (await isFree(port)) return port
  }
  return tryPort(0)
}

function isFree(port: number): Promise<boolean> {
  return tryPort(port).then(
    () => true,
    () => false,
  )
}

/** Listens on a port for a moment, and returns it; rejects when that is impossible. The host `null` is all addresses. */
export function tryPort(port: number, host: string | null = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      const { port: taken } = server.address() as AddressInfo // a TCP server's address is never a string
      server.close(() => resolve(taken))
    })
  })
}
