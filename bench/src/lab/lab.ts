import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Postgres } from '@belfry/embedded'
import type { ProcessGroups } from '../measure/proc.ts'
import { type Child, programFolder, startChild } from './child-process.ts'
import { type Counter, createCounter } from './counter.ts'
import { createTemplate, type Database, openDatabase } from './database.ts'
import { type BenchRedis, startBenchPostgres, startBenchRedis } from './servers.ts'

/** The servers and the target that all sides of a benchmark share. */
export type Lab = {
  postgres: Postgres
  redis: BenchRedis
  target: Target
  folder: string
  /** Empties Redis and creates a database with Belfry's tables and some workspaces. */
  freshDatabase(): Promise<Database>
  /** Starts a program of this package, such as a baseline, with its argument. Default Node: that of this process. */
  startProgram(name: string, argument: unknown, node?: string): Promise<Child>
  /** The folder for CPU profiles of Belfry's processes; null for none. */
  profileFolder: string | null
  close(): Promise<void>
}

export type Target = {
  pid: number
  counter: Counter
  /** Returns the address of every call; a name makes the target record when this call arrives. */
  url(name?: string | number): string
}

// All writes are durable, as in production. More memory and fewer checkpoints than by default, for all sides alike.
const postgresSettings = { shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '30min' }

export async function openLab(profileFolder: string | null): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const startProgram = (name: string, argument: unknown, node?: string) =>
    startChild(join(programFolder, `${name}.mjs`), {
      args: [JSON.stringify(argument)],
      node,
      logFile: join(folder, `${name}.log`),
    })
  const postgres = await startBenchPostgres(join(folder, 'postgres'), postgresSettings)
  const redis = await startBenchRedis(join(folder, 'redis'))
  await createTemplate(postgres)
  const target = await startProgram('target', {})
  const { port } = target.ready as { port: number } // as target/main.ts sends it
  return {
    postgres,
    redis,
    folder,
    profileFolder,
    startProgram,
    target: {
      pid: target.pid,
      counter: createCounter(target.channel),
      url: name => `http://127.0.0.1:${port}/${name === undefined ? '' : `named/${name}`}`,
    },
    async freshDatabase() {
      await redis.client.flushall()
      return openDatabase(postgres)
    },
    async close() {
      await target.stop()
      await redis.stop()
      await postgres.stop()
    },
  }
}

/** Returns the processes that a side pays for. The target stands for the outside and is measured apart. */
export function processGroups({ postgres, redis, target }: Lab, node: number[]): ProcessGroups {
  return { node, postgres: [postgres.pid], redis: [redis.pid], outside: [target.pid] }
}

/** Requires that the target was called exactly this often: otherwise the side has not run the race. */
export async function requireCalls({ target }: Lab, count: number): Promise<void> {
  await target.counter.reached(count)
  const calls = await target.counter.collect()
  if (calls.count !== count) throw new Error(`The target was called ${calls.count} times instead of ${count}.`)
}
