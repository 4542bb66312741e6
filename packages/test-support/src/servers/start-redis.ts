import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { freePort, lastLines, type ServerProcess, spawnServer, stopLeftover, waitUntil } from '@belfry/embedded'
import { endWithThisProcess } from './end-with-this-process.ts'
import { findRedisServer } from './find-redis-server.ts'

export type RedisOptions = {
  /** The data directory; created when it does not exist. */
  dataDir: string
  /** The port if it is free, else any. Default: any. */
  port?: number | undefined
  /** Whether the data survives a restart; a crash loses at most its last second. */
  persist: boolean
  /** Additional settings. Default: none. */
  settings?: Readonly<Record<string, string>>
  /** The log file. Default: the data directory's name with `.log` appended. */
  logFile?: string
}

export type Redis = {
  port: number
  pid: number
  url: string
  /** Settles when the server has ended. */
  exited: Promise<void>
  /** Stops the server cleanly. */
  stop(): Promise<void>
  /** Kills the server, as a crash would. */
  kill(): void
}

const stopSignals = [['SIGTERM', 10_000]] as const
const readyTimeoutMs = 60_000
const portAttempts = 3

/**
 * Starts a private Redis (or Valkey) server from PATH, on loopback only, which ends with this process at the latest. First it
 * stops the server that a killed process left running on the same data, because two servers would write to one file.
 */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  const program = findRedisServer()
  if (!program) throw new Error('There is no redis-server or valkey-server 6.2 or newer on PATH.')
  const dataDir = resolve(options.dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await stopLeftoverRedis(dataDir)
  const { server, port } = await launch(dataDir, program, options)
  return {
    port,
    pid: server.pid,
    url: `redis://127.0.0.1:${port}`,
    exited: server.exited,
    stop: () => server.stop(stopSignals),
    kill: () => server.kill('SIGKILL'),
  }
}

/** Stops the server that a killed process left running on this data directory, if there is one. */
export function stopLeftoverRedis(dataDir: string): Promise<void> {
  return stopLeftover(join(dataDir, 'redis.pid'), dataDir, stopSignals)
}

async function launch(
  dataDir: string,
  program: string,
  { port: wantedPort, persist, settings = {}, logFile = `${dataDir}.log` }: RedisOptions,
): Promise<{ server: ServerProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(wantedPort)
    const server = await spawnServer(
      [program, ...redisArguments(dataDir, port, persist), ...toArguments(settings)],
      logFile,
    )
    endWithThisProcess(server.pid, server.exited)
    await waitUntil(async () => !server.isRunning() || (await isReady(port, server.pid)), readyTimeoutMs)
    if (server.isRunning() && (await isReady(port, server.pid))) return { server, port }
    await server.stop(stopSignals)
    const output = server.output()
    // Another process can take the free port between the check and its use.
    if (attempt === portAttempts || !output.includes('Address already in use')) {
      throw new Error(`Redis did not start on ${dataDir}. Its output:\n${lastLines(output)}`)
    }
  }
}

function redisArguments(dataDir: string, port: number, persist: boolean): string[] {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: dataDir,
    pidfile: join(dataDir, 'redis.pid'),
    daemonize: 'no',
    // The directory on the command line identifies a leftover server; by default Redis overwrites it.
    'set-proc-title': 'no',
    appendonly: persist ? 'yes' : 'no',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
  }
  return toArguments(settings)
}

function toArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

// The response contains the pid, because another server may use the port.
async function isReady(port: number, pid: number): Promise<boolean> {
  const info = await askInfo(port)
  return info.includes(`\r\nprocess_id:${pid}\r\n`) && info.includes('\r\nloading:0\r\n')
}

function askInfo(port: number): Promise<string> {
  return new Promise(done => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('INFO\r\nQUIT\r\n'))
    socket.setTimeout(1000, () => socket.destroy())
    socket.on('data', chunk => (answer += chunk))
    socket.on('error', () => {}) // followed by close
    socket.on('close', () => done(answer))
  })
}
