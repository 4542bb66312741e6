import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, lastLines, spawnServer, waitUntil } from '@belfry/embedded'
import { endWithThisProcess } from './end-with-this-process.ts'

const program = '/usr/sbin/mariadbd'

/** Whether Debian's package `mariadb-server-core` is installed. */
export const hasMariadb = existsSync(program)

/** Starts a private MariaDB with an empty database, on loopback only, which ends with this process at the latest. */
export async function startMariadb(dataDir: string): Promise<{ url: string; stop(): Promise<void> }> {
  const database = 'test'
  await mkdir(join(dataDir, database), { recursive: true }) // a folder is a database
  const port = await freePort()
  const options = [
    '--no-defaults',
    `--datadir=${dataDir}`,
    `--socket=${join(dataDir, 'socket')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--skip-grant-tables', // without the tables of users
    ...(process.getuid?.() === 0 ? ['--user=root'] : []), // which it refuses otherwise
  ]
  const server = await spawnServer([program, ...options], `${dataDir}.log`)
  endWithThisProcess(server.pid, server.exited)
  const isReady = () => server.output().includes('ready for connections')
  await waitUntil(() => isReady() || !server.isRunning(), 60_000)
  if (!isReady()) throw new Error(`MariaDB did not start:\n${lastLines(server.output())}`)
  return {
    url: `mysql://root@127.0.0.1:${port}/${database}`,
    stop: () => server.stop([['SIGTERM', 10_000]]),
  }
}
