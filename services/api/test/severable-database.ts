import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'

export type SeverableDatabase = {
  /** The URL of the database through a connection that can be cut. */
  url: string
  /** Ends every connection and refuses new ones, like a server that has stopped. */
  cut(): Promise<void>
  /** Accepts connections again. */
  restore(): Promise<void>
}

/** Puts a proxy that can be cut in front of a database. */
export async function putWireBefore(databaseUrl: string): Promise<SeverableDatabase> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const wire = createServer(near => {
    const far = dial(Number(target.port), target.hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => sockets.delete(one))
    }
  })
  wire.listen(0, '127.0.0.1')
  await once(wire, 'listening')
  const { port } = wire.address() as AddressInfo // it listens on a port
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).href
  return {
    url,
    async cut() {
      wire.close()
      for (const socket of sockets) socket.destroy()
    },
    async restore() {
      wire.listen(port, '127.0.0.1')
      await once(wire, 'listening')
    },
  }
}
