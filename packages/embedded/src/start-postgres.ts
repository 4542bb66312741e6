import { mkdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureCluster } from './create-cluster.ts'
import { freePort } from './free-port.ts'
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { commandLine } from './process-identity.ts'
import { findServerAccount, type ServerAccount } from './server-account.ts'
import { lastLines, type ServerProcess, spawnServer } from './server-process.ts'
import { readLines, readPid, stopLeftover } from './stop-leftover.ts'
import { waitUntil } from './wait-until.ts'

export type PostgresOptions = {
  /** Where the data is kept; made when it does not exist. */
  dataDir: string
  /** Taken when it is free, else any. Default: any. */
  port?: number | undefined
  /** Server settings, such as `{ fsync: 'off' }`. Default: PostgreSQL's, with 200 connections. */
  settings?: Record<string, string>
  /** Default: the data directory's name with `.log` behind it. */
  logFile?: string
  /** The server to run. Default: the embedded one. */
  binaries?: PostgresBinaries | undefined
}

export type Postgres = {
  port: number
  pid: number
  /** The address for a client, as the superuser. Default database: `postgres`. */
  url(database?: string): string
  /** Settles when the server has ended, by `stop` or by itself. */
  exited: Promise<void>
  /** Ends the server in order; open transactions are rolled back. */
  stop(): Promise<void>
  /** Ends the server at once, as a crash would; it recovers when it is started again. */
  kill(): void
}

// SIGINT rolls back and writes a checkpoint, which may take long on a slow disk; SIGQUIT leaves that to the next start.
const stopSignals = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5000],
] as const

// Replaying the log after a crash takes its time, and the server says that it is alive meanwhile.
const readyTimeoutMs = 180_000
const retryTimeoutMs = 15_000

/**
 * Starts a real PostgreSQL server for development and tests, on loopback only. One that an earlier, killed process left
 * on the same data is stopped first.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDir = resolve(options.dataDir)
  await mkdir(dirname(dataDir), { recursive: true })
  const found = options.binaries ?? (await findPostgresBinaries())
  const { account, binaries } = findServerAccount(found, dirname(dataDir))
  await stopLeftoverPostgres(dataDir)
  await dropForeignPid(join(dataDir, 'postmaster.pid'))
  const password = await ensureCluster(dataDir, binaries.initdb, account)
  const { server, port } = await launch(dataDir, binaries.postgres, account, options)
  return {
    port,
    pid: server.pid,
    url: (database = 'postgres') => `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`,
    exited: server.exited,
    stop: () => server.stop(stopSignals),
    kill: () => server.kill('SIGQUIT'),
  }
}

/** Stops the server that an earlier, killed process left on this data directory, if there is one. */
export function stopLeftoverPostgres(dataDir: string): Promise<void> {
  return stopLeftover(join(dataDir, 'postmaster.pid'), dataDir, stopSignals)
}

async function launch(
  dataDir: string,
  program: string,
  account: ServerAccount,
  { port: wantedPort, settings = {}, logFile = `${dataDir}.log` }: PostgresOptions,
): Promise<{ server: ServerProcess; port: number }> {
  const giveUpAt = performance.now() + retryTimeoutMs
  for (;;) {
    const port = await freePort(wantedPort)
    const flags = Object.entries({ max_connections: '200', ...settings }).flatMap(([k, v]) => ['-c', `${k}=${v}`])
    const command = [program, '-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...flags]
    const server = await spawnServer([...account.prefix, ...command], logFile, account.ids)
    await waitUntil(() => isReady(dataDir, server.pid) || !server.isRunning(), readyTimeoutMs, 10)
    if (server.isRunning() && isReady(dataDir, server.pid)) return { server, port }
    await server.stop(stopSignals)
    const output = server.output()
    if (performance.now() > giveUpAt || !isPassing(output)) {
      throw new Error(`PostgreSQL did not start on ${dataDir}. It says:\n${lastLines(output)}`)
    }
    await sleep(100)
  }
}

// PostgreSQL would refuse to start while any process of ours has the pid in the file, as one easily has in a container,
// where the numbers begin anew. A server of another directory is left to its own judgement.
async function dropForeignPid(pidFile: string): Promise<void> {
  if (!/postgres/.test(commandLine(readPid(pidFile)))) await rm(pidFile, { force: true })
}

// The pid is compared because a server that crashed leaves a file that says "ready" too.
function isReady(dataDir: string, pid: number): boolean {
  const pidFile = join(dataDir, 'postmaster.pid')
  return readPid(pidFile) === pid && readLines(pidFile)[7]?.trim() === 'ready'
}

// The children of a server that was killed with SIGKILL hold its memory for some more milliseconds; and between the
// look for a free port and its use another process can take it.
function isPassing(output: string): boolean {
  return /pre-existing shared memory block|Address already in use/.test(output)
}
