import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startRedis } from '@belfry/test-support/servers'
import { type QueueBackend, startInstallation } from './installation.ts'

/** Where an installation is that the files of a run share. */
export type SharedInstallation = { url: string; databaseUrl: string; redisUrl: string | null }

/**
 * Serves the run's shared installations to its workers: `GET /redis` starts the one with its queue on Redis at the first
 * demand. Its processes end with this one, even when it is killed, because they stop when their IPC channel closes.
 */
export async function serveInstallations(
  folder: string,
  createDatabase: (name: string) => Promise<string>,
): Promise<{ url: string; close(): Promise<void> }> {
  const closers: Array<() => Promise<unknown>> = []

  async function start(backend: QueueBackend): Promise<SharedInstallation> {
    const databaseUrl = await createDatabase(`shared_${backend}`)
    const dataDir = join(folder, 'shared-redis')
    const redisUrl = backend === 'redis' ? (await startRedis({ dataDir, persist: false })).url : null
    const { url, services } = await startInstallation(databaseUrl, redisUrl, {
      // Two dispatchers, because what they do together must hold for each test.
      services: ['api', 'scheduler', 'dispatcher', 'dispatcher'],
      env: { QSTASH_API: 'on' },
    })
    closers.push(...services.map(service => () => service.stop('SIGKILL')))
    return { url, databaseUrl, redisUrl }
  }

  const installations = new Map<QueueBackend, Promise<SharedInstallation>>()
  const server = createServer(async (request, response) => {
    const backend = request.url === '/redis' ? 'redis' : 'postgres'
    const installation = installations.get(backend) ?? start(backend)
    installations.set(backend, installation)
    await installation.then(
      found => response.end(JSON.stringify(found)),
      error => response.writeHead(500).end(String(error)),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await Promise.allSettled(installations.values())
      await Promise.all(closers.map(close => close()))
    },
  }
}
