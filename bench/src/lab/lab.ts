import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessGroups } from '@belfry/test-support/proc'
import { type Child, programFolder, startChild } from './child-process.ts'
import { type Arrival, type Counter, createCounter } from './counter.ts'
import { createTemplate, type Database, openDatabase } from './database.ts'
import { type BenchPostgres, type BenchRedis, startBenchPostgres, startBenchRedis } from './servers.ts'

/** The servers and the target that all sides of a benchmark share. */
export type Lab = AsyncDisposable & {
  postgres: BenchPostgres
  redis: BenchRedis
  target: Target
  folder: string
  /** Starts a program of this package, such as a baseline, with its argument. Default Node: that of this process. */
  startProgram(name: string, argument: unknown, node?: string): Promise<Child>
  /** The folder for CPU profiles of Belfry's processes; null for none. */
  profileFolder: string | null
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
  const { port } = target.ready as AddressInfo // as programs/target.ts sends it
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
    async [Symbol.asyncDispose]() {
      for (const part of [target, redis, postgres]) await part[Symbol.asyncDispose]()
    },
  }
}

/** Returns a side that runs with an empty Redis and a new database with Belfry's tables and some workspaces. */
export function inFreshDatabase<T>(
  lab: Lab,
  run: (database: Database) => Promise<T>,
  template?: string,
): () => Promise<T> {
  return async () => {
    await lab.redis.client.flushall()
    await using database = await openDatabase(lab.postgres, template)
    return await run(database)
  }
}

/** Returns the processes that a side pays for. The target stands for the outside and is measured apart. */
export function processGroups({ postgres, redis, target }: Lab, node: number[]): ProcessGroups {
  return { node, postgres: [postgres.pid], redis: [redis.pid], outside: [target.pid] }
}

/** Requires that the target was called exactly this often, and returns the named calls. */
export async function requireCalls({ target: { counter } }: Lab, count: number): Promise<Arrival[]> {
  await counter.reached(count)
  const calls = await counter.reached(0)
  if (calls.count !== count) throw new Error(`The target was called ${calls.count} times instead of ${count}.`)
  return calls.arrivals
}
