import { randomInt } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'

// Below those that systems give to outgoing connections, one of which could take a port between this look and its use.
const [lowest, highest] = [20_000, 32_000]
const tries = 20

/** Finds a loopback port that nothing listens on: the wanted one when it is free, else any. */
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

function tryPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const { port: taken } = server.address() as AddressInfo // a TCP server's address is never a string
      server.close(() => resolve(taken))
    })
  })
}
