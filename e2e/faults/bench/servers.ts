import { join } from 'node:path'
import { startPostgres, startRedis } from '@belfry/embedded'
import { Redis } from 'ioredis'
import { endWithThisProcess } from './end-with-this-process.ts'
import { type FaultProxy, startProxy } from './proxy.ts'

/** A PostgreSQL that can be stopped and started again on the same data, behind a proxy. */
export type BenchPostgres = {
  /** Straight to the server: for the bench itself. */
  url: string
  /** Through the proxy: for the product. */
  productUrl: string
  proxy: FaultProxy
  stop(how: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Starts a PostgreSQL with everything on that makes it durable. */
export async function startBenchPostgres(dataDir: string): Promise<BenchPostgres> {
  const settings = { fsync: 'on', synchronous_commit: 'on' }
  let server = await startPostgres({ dataDir, settings })
  let pid = endWithThisProcess(server.pid)
  const proxy = await startProxy(server.port)
  const { port } = server
  const url = server.url()
  return {
    url,
    productUrl: url.replace(`:${port}/`, `:${proxy.port}/`),
    proxy,
    async stop(how) {
      if (how === 'fast') await server.stop()
      else server.kill()
      await server.exited
      pid.forget()
    },
    async start() {
      server = await startPostgres({ dataDir, port, settings })
      if (server.port !== port) throw new Error(`Port ${port} was taken by somebody else.`)
      pid = endWithThisProcess(server.pid)
    },
    async close() {
      await proxy.close()
      server.kill()
      await server.exited
      pid.forget()
    },
  }
}

/** A Redis that can be killed and started again, behind a proxy. */
export type BenchRedis = {
  port: number
  productUrl: string
  proxy: FaultProxy
  /** Straight to the server: for the bench itself. Connects again by itself after a restart. */
  client: Redis
  kill(): Promise<void>
  /** Starts it again with what its files hold: nothing, unless it was told to persist or to save. */
  start(): Promise<void>
  close(): Promise<void>
}

export async function startBenchRedis(folder: string, persist: boolean): Promise<BenchRedis> {
  const dataDir = join(folder, 'redis')
  let server = await startRedis({ dataDir, persist })
  let pid = endWithThisProcess(server.pid)
  const { port } = server
  const proxy = await startProxy(port)
  const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 100 })
  client.on('error', () => {}) // expected while the server is down
  return {
    port,
    productUrl: `redis://127.0.0.1:${proxy.port}`,
    proxy,
    client,
    async kill() {
      server.kill()
      await server.exited
      pid.forget()
    },
    async start() {
      server = await startRedis({ dataDir, port, persist })
      if (server.port !== port) throw new Error(`Port ${port} was taken by somebody else.`)
      pid = endWithThisProcess(server.pid)
    },
    async close() {
      client.disconnect()
      await proxy.close()
      server.kill()
      await server.exited
      pid.forget()
    },
  }
}
