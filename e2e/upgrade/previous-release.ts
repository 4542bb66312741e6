import { execFile, spawnSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { ServiceName } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'

/**
 * The commit of the previous release, whose processes must work in parallel with those of this version. Update it with each
 * release.
 */
export const previousRelease = '970312180ae4'

const folder = join(repositoryRoot(), 'node_modules/.cache/previous-release')
const run = promisify(execFile)

/** Returns whether this clone contains that commit; a shallow clone or a copy of the files does not. */
export function hasPreviousRelease(): boolean {
  const { status } = spawnSync('git', ['cat-file', '-e', `${previousRelease}^{commit}`], { cwd: repositoryRoot() })
  if (status !== 0) console.warn(`The commit ${previousRelease} is not here: upgrades from it are not tested.`)
  return status === 0
}

/** Builds its programs, once for each checkout. */
export async function bundlePreviousRelease(): Promise<void> {
  const script = join(repositoryRoot(), 'scripts/bundle-release.mjs')
  await run(process.execPath, [script, previousRelease, folder], { cwd: repositoryRoot() })
}

/** Returns the path of its program of a service, in the form for `startService`. */
export function previousBundle(name: ServiceName): string {
  const own = join(repositoryRoot(), 'services', name, 'dist')
  return relative(own, join(folder, 'services', name, 'dist/main.mjs'))
}

/** Applies the migrations of this version or of the previous one to a database. */
export async function deploy(version: 'this' | 'previous', databaseUrl: string): Promise<string[]> {
  const program = join(version === 'this' ? repositoryRoot() : folder, 'prisma/dist/main.mjs')
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  const { stdout } = await run(process.execPath, [program, 'deploy'], { env })
  return stdout.split('\n').flatMap(line => /^applied (\S+)/.exec(line)?.[1] ?? [])
}
