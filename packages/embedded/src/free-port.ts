import { type AddressInfo, createServer } from 'node:net'

/** Finds a loopback port that nothing listens on: the wanted one when it is free, else any. */
export async function freePort(wanted = 0): Promise<number> {
  return tryPort(wanted).catch(() => tryPort(0))
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
