import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { commandLine } from './process-identity.ts'
import { readLines, readPid } from './stop-leftover.ts'

/** Returns the embedded PostgreSQL of a data directory, or null if it is not running. */
export async function findRunningPostgres(folder: string) {
  const dataDir = resolve(folder)
  const pidFile = join(dataDir, 'postmaster.pid')
  const pid = readPid(pidFile)
  if (!pid || !` ${commandLine(pid)} `.includes(` ${dataDir} `)) return null
  const port = Number(readLines(pidFile)[3])
  return { port, url: urlOf(await readFile(join(dataDir, passwordFile), 'utf8'), port) }
}

/** Returns a function that returns the URL for a client, as the superuser. Default database: `postgres`. */
export function urlOf(password: string, port: number): (database?: string) => string {
  return (database = 'postgres') => `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`
}

/** The file in the data directory with the password of the superuser. */
export const passwordFile = 'belfry.password'
