import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { majorVersionOf, type PostgresBinaries } from '@belfry/embedded'

const oldestSupported = 15
const debianFolder = '/usr/lib/postgresql'

/** Returns the newest installed PostgreSQL server, version 15 or newer; null when there is none. */
export function findInstalledPostgres(): PostgresBinaries | null {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : []
  const folders = [
    ...versions.map(version => join(debianFolder, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter).filter(Boolean),
  ]
  const installed = folders
    .map(folder => ({ initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }))
    .filter(({ initdb, postgres }) => existsSync(initdb) && existsSync(postgres))
    .map(binaries => ({ binaries, version: majorVersionOf(binaries.postgres) }))
    .filter(({ version }) => version >= oldestSupported)
    .sort((a, b) => b.version - a.version)
  return installed[0]?.binaries ?? null
}
