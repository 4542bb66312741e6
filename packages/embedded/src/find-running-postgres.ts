import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { commandLine } from './process-identity.ts'
import { readLines, readPid } from './stop-leftover.ts'

export type RunningPostgres = {
  port: number
  /** Returns the URL for a client, as the superuser. Default database: `postgres`. */
  url(database?: string): string
}

/** Returns the embedded PostgreSQL of a data directory, or null if it is not running. */
export async function findRunningPostgres(folder: string): Promise<RunningPostgres | null> {
  const dataDir = resolve(folder)
  const pidFile = join(dataDir, 'postmaster.pid')
  const pid = readPid(pidFile)
  if (!pid || !` ${commandLine(pid)} `.includes(` ${dataDir} `)) return null
  const port = Number(readLines(pidFile)[3])
  return { port, url: urlOf(await readPassword(dataDir), port) }
}

/** Returns the URLs of an embedded PostgreSQL. */
export function urlOf(password: string, port: number): (database?: string) => string {
  return (database = 'postgres') => `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`
}

/** The file in the data directory with the password of the superuser. */
export const passwordFile = 'belfry.password'

function readPassword(dataDir: string): Promise<string> {
  return readFile(join(dataDir, passwordFile), 'utf8')
}
