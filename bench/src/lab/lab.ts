import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from './child-process.ts'
import { type Counter, createCounter } from './counter.ts'
import { createTemplate, type Database, openDatabase } from './database.ts'
import { programFolder } from './places.ts'
import { type Servers, startServers } from './servers.ts'

/** Where benchmarks are run: the servers and the target, which all sides share. */
export type Lab = {
  servers: Servers
  target: Target
  folder: string
  /** Empties Redis and makes a database with Belfry's tables and a workspace or two in it. */
  freshDatabase(): Promise<Database>
  /** Starts a target of its own for one side. */
  startTarget(): Promise<Target>
  /** Starts a program of this package, such as a baseline, with an argument of its own. Default Node: this process'. */
  startProgram(name: string, argument: unknown, node?: string): Promise<Child>
  /** Where the CPU profiles of Belfry's processes go; null when none are made. */
  profileFolder: string | null
  close(): Promise<void>
}

export type Target = {
  pid: number
  counter: Counter
  /** The address that every call goes to; a name lets the target tell this call apart from others. */
  url(name?: string | number): string
  stop(): Promise<void>
}

export async function openLab(profileFolder: string | null): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-bench-'))
  const startProgram = (name: string, argument: unknown, node?: string) =>
    startChild(join(programFolder, `${name}.mjs`), {
      args: [JSON.stringify(argument)],
      node,
      logFile: join(folder, `${name}.log`),
    })
  const servers = await startServers(folder)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  await createTemplate(servers.postgres)
  const startTarget = async () => toTarget(await startProgram('target', {}))
  const target = await startTarget()
  return {
    servers,
    folder,
    profileFolder,
    startProgram,
    startTarget,
    target,
    async freshDatabase() {
      await servers.redis.flushall()
      return openDatabase(servers.postgres)
    },
    async close() {
      await target.stop()
      await servers.close()
    },
  }
}

function toTarget({ pid, channel, ready, stop }: Child): Target {
  const { port } = ready as { port: number } // as its program says it
  return {
    pid,
    counter: createCounter(channel),
    url: name => `http://127.0.0.1:${port}/${name === undefined ? '' : `named/${name}`}`,
    stop,
  }
}

/** The processes whose CPU a side is charged with, and, apart, the one that stands for the outside. */
export function processGroups({ servers, target }: Lab, node: number[]): Record<string, number[]> {
  return { node, postgres: [servers.postgres.pid], redis: [servers.redisPid], outside: [target.pid] }
}

/** Makes sure that the target was called exactly so often: a side that did other work has not run the race. */
export async function requireCalls({ target }: Lab, count: number): Promise<void> {
  await target.counter.reached(count)
  const calls = await target.counter.collect()
  if (calls.count !== count) throw new Error(`The target was called ${calls.count} times instead of ${count}.`)
}
