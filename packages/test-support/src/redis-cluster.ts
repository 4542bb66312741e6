import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, waitUntil } from '@belfry/embedded'
import { Redis } from 'ioredis'
import { type Redis as Server, startRedis } from './servers/start-redis.ts'

/** A Redis Cluster of masters without replicas, on loopback. */
export type RedisCluster = {
  /** The URL with all nodes. */
  url: string
  ports: readonly number[]
  /** Runs a command on a node. */
  ask(node: number, command: string, ...args: string[]): Promise<unknown>
  /** Kills a node, as a crash would. */
  kill(node: number): Promise<void>
  /** Restarts a killed node, with or without its data. */
  revive(node: number, options?: { empty?: boolean }): Promise<void>
  close(): Promise<void>
}

const slots = 16_384
const busDistance = 10_000
const patienceMs = 30_000

/** Starts a cluster whose nodes share the slots evenly. Resolves once all nodes agree. */
export async function startRedisCluster(size = 3): Promise<RedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-cluster-'))
  const nodes: Server[] = []
  const start = async (node: number, port: number) => {
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-config-file': 'nodes.conf',
      'cluster-node-timeout': '2000',
      'cluster-announce-ip': '127.0.0.1',
    }
    nodes[node] = await startRedis({ dataDir: join(folder, `${node}`), port, persist: true, settings })
  }
  for (let node = 0; node < size; node++) await start(node, await portWithBus())
  const ports = nodes.map(({ port }) => port)

  async function ask(node: number, command: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis({ port: ports[node] ?? 0, maxRetriesPerRequest: 1, retryStrategy: () => null })
    redis.on('error', () => {}) // the command rejects
    try {
      return await redis.call(command, ...args)
    } finally {
      redis.disconnect()
    }
  }
  const agree = () =>
    waitUntil(async () => {
      const states = await Promise.all(ports.map((_, node) => ask(node, 'CLUSTER', 'INFO').catch(String)))
      return states.every(
        state => /cluster_state:ok/.test(`${state}`) && `${state}`.includes(`cluster_known_nodes:${size}`),
      )
    }, patienceMs)

  for (const [node, port] of ports.entries()) {
    const [from, to] = [node, node + 1].map(i => Math.floor((slots * i) / size))
    const own = Array.from({ length: (to ?? 0) - (from ?? 0) }, (_, i) => `${(from ?? 0) + i}`)
    await ask(node, 'CLUSTER', 'ADDSLOTS', ...own)
    await ask(node, 'CLUSTER', 'SET-CONFIG-EPOCH', `${node + 1}`)
    if (node > 0) await ask(0, 'CLUSTER', 'MEET', '127.0.0.1', `${port}`)
  }
  await agree()
  return {
    url: `redis+cluster://${ports.map(port => `127.0.0.1:${port}`).join()}`,
    ports,
    ask,
    async kill(node) {
      nodes[node]?.kill()
      await nodes[node]?.exited
    },
    async revive(node, { empty = false } = {}) {
      if (empty) await rm(join(folder, `${node}`, 'appendonlydir'), { recursive: true, force: true })
      await start(node, ports[node] ?? 0)
      await agree()
    },
    async close() {
      await Promise.all(nodes.map(node => node.stop()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// A node also listens on the port 10,000 above its own, which is below the ephemeral ports too.
async function portWithBus(): Promise<number> {
  for (;;) {
    const wanted = 12_000 + Math.floor(Math.random() * 10_700)
    const [port, bus] = [await freePort(wanted), await freePort(wanted + busDistance)]
    if (port === wanted && bus === wanted + busDistance) return port
  }
}
