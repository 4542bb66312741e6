import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { passwordFile, urlOf } from './find-running-postgres.ts'
import { freePort } from './free-port.ts'
import { findPostgresBinaries, majorVersionOf, type PostgresBinaries } from './postgres-binaries.ts'
import { commandLine } from './process-identity.ts'
import { findServerAccount, giveTo, type ServerAccount } from './server-account.ts'
import { lastLines, type ServerProcess, spawnServer } from './server-process.ts'
import { readLines, readPid, stopLeftover, waitUntil } from './stop-leftover.ts'

export type PostgresOptions = {
  /** The data directory; created when it does not exist. */
  dataDir: string
  /** The port if it is free, else any. Default: any. */
  port?: number | undefined
  /** Server settings, such as `{ fsync: 'off' }`. Default: PostgreSQL's, with 200 connections. */
  settings?: Record<string, string>
  /** The log file. Default: the data directory's name with `.log` appended. */
  logFile?: string
  /** The server to run. Default: the embedded one. */
  binaries?: PostgresBinaries | undefined
}

export type Postgres = Awaited<ReturnType<typeof startPostgres>>

// SIGINT rolls back and writes a checkpoint. That can be slow, and SIGQUIT leaves it to the next start.
const stopSignals = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5000],
] as const

// Replaying the log after a crash can take long.
const readyTimeoutMs = 180_000
const retryTimeoutMs = 15_000

/**
 * Starts a PostgreSQL server for development and tests, on loopback only. First it stops the server that a killed process
 * left running on the same data.
 */
export async function startPostgres(options: PostgresOptions) {
  const dataDir = resolve(options.dataDir)
  await mkdir(dirname(dataDir), { recursive: true })
  const found = options.binaries ?? (await findPostgresBinaries())
  const { account, binaries } = findServerAccount(found, dirname(dataDir))
  await stopLeftoverPostgres(dataDir)
  await dropForeignPid(join(dataDir, 'postmaster.pid'))
  const password = await ensureCluster(dataDir, binaries.initdb, account)
  const { server, port } = await launch(dataDir, binaries.postgres, account, options)
  const stop = () => stopServer(server, dataDir, binaries)
  return {
    port,
    pid: server.pid,
    /** Returns the URL for a client, as the superuser. Default database: `postgres`. */
    url: urlOf(password, port),
    exited: server.exited,
    /** Stops the server cleanly; open transactions are rolled back. */
    stop,
    [Symbol.asyncDispose]: stop,
    /** Kills the server, as a crash would; it recovers at the next start. */
    kill: () => server.kill('SIGQUIT'),
  }
}

/** Stops the server that a killed process left running on this data directory, if there is one. */
export function stopLeftoverPostgres(dataDir: string): Promise<void> {
  return stopLeftover(join(dataDir, 'postmaster.pid'), dataDir, stopSignals)
}

// A signal would end the server on Windows like a crash, so PostgreSQL's own program sends it.
async function stopServer(server: ServerProcess, dataDir: string, { pg_ctl }: PostgresBinaries): Promise<void> {
  if (process.platform !== 'win32' || !pg_ctl) return server.stop(stopSignals)
  const args = ['stop', '-D', dataDir, '-m', 'fast', '-t', '30']
  await promisify(execFile)(pg_ctl, args, { windowsHide: true }).catch(() => {}) // it has ended, or the next line ends it
  await server.stop([])
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
      throw new Error(`PostgreSQL did not start on ${dataDir}. Its output:\n${lastLines(output)}`)
    }
    await sleep(100)
  }
}

// PostgreSQL refuses to start while any process of the user has the pid in the file. In a container that is likely, because
// pids start again. PostgreSQL itself checks for servers of other directories.
async function dropForeignPid(pidFile: string): Promise<void> {
  if (!/postgres/.test(commandLine(readPid(pidFile)))) await rm(pidFile, { force: true })
}

// A crashed server leaves a file with "ready" too, so the pid is compared.
function isReady(dataDir: string, pid: number): boolean {
  const pidFile = join(dataDir, 'postmaster.pid')
  return readPid(pidFile) === pid && readLines(pidFile)[7]?.trim() === 'ready'
}

// The children of a killed server hold its memory for some more milliseconds. Another process can take the free port between
// the check and its use.
function isPassing(output: string): boolean {
  return /pre-existing shared memory block|Address already in use/.test(output)
}

/** Creates the data directory unless it exists, and returns the password of its superuser `postgres`. */
async function ensureCluster(dataDir: string, initdb: string, account: ServerAccount): Promise<string> {
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await createCluster(dataDir, initdb, account)
  giveTo(account, dataDir)
  return readFile(join(dataDir, passwordFile), 'utf8')
}

// Created under another name and then renamed, so an interruption never leaves half a cluster.
async function createCluster(dataDir: string, initdb: string, account: ServerAccount): Promise<void> {
  const draft = `${dataDir}.init`
  const secret = `${draft}.password`
  const password = randomBytes(16).toString('hex')
  await freePlace(dataDir)
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  await rm(secret, { force: true })
  await writeFile(secret, password, { mode: 0o600 })
  giveTo(account, draft)
  giveTo(account, secret)
  try {
    await runInitdb([...account.prefix, initdb, ...initdbArguments(initdb, draft, secret)], account)
    await rename(secret, join(draft, passwordFile))
    await rename(draft, dataDir)
  } finally {
    await rm(secret, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

async function freePlace(dataDir: string): Promise<void> {
  try {
    if (existsSync(dataDir)) await rmdir(dataDir)
  } catch (cause) {
    throw new Error(`${dataDir} is in the way: it has no PostgreSQL data. Move it away, or choose another directory.`, {
      cause,
    })
  }
}

// The password is random, so one hash iteration is enough: more would delay every connection by milliseconds. Without sync, a
// power cut within the first seconds can only lose an empty database.
function initdbArguments(initdb: string, directory: string, passwordPath: string): string[] {
  const settings = majorVersionOf(initdb) >= 16 ? ['-c', 'scram_iterations=1'] : []
  return [
    ...['-D', directory, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordPath}`],
    ...['--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync', ...settings],
  ]
}

async function runInitdb([program = '', ...args]: string[], { ids }: ServerAccount): Promise<void> {
  const running = promisify(execFile)(program, args, ids)
  running.child.stdin?.end()
  await running.catch(error => {
    if (error.syscall !== undefined) throw error // it did not start
    const output = lastLines(`${error.stdout}${error.stderr}`)
    throw new Error(`The database directory could not be created. Output of initdb:\n${output}`)
  })
}
