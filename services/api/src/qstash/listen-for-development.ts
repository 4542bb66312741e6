import { createServer, type Server } from 'node:http'
import type { Logger } from '@belfry/runtime'

/**
 * Also listens where the clients of QStash look for a server in their development mode, on loopback only. Returns null when
 * another program has the port: then everything else works.
 */
export function listenForDevelopment(server: Server, port: number, log: Logger): Promise<Server | null> {
  const listener = createServer((request, response) => server.emit('request', request, response))
  return new Promise(resolve => {
    listener.once('error', err => {
      log.warn({ err, port }, 'qstash.port_in_use')
      resolve(null)
    })
    listener.listen(port, '127.0.0.1', () => resolve(listener))
  })
}
