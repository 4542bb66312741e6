import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ListenAddress = { host: string; port: number }

/**
 * Makes a server listen, and returns its port. A dispatcher of this process refuses to call these ports.
 * @param address - Port 0 means any free port.
 * @param ports - The ports of the process: contains the new port until the server is closed.
 */
export async function listen(server: Server, address: ListenAddress, ports: Set<number>): Promise<number> {
  server.listen(address)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  ports.add(port)
  server.once('close', () => ports.delete(port))
  return port
}
