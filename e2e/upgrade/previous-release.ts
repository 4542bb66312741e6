import { execFile, spawnSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { ServiceName } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'

/**
 * What counts as the version that is out there, whose processes have to go on beside this one's. Moved to the commit of
 * each release.
 */
export const previousRelease = '970312180ae4'

const folder = join(repositoryRoot(), 'node_modules/.cache/previous-release')
const run = promisify(execFile)

/** Whether the history of this clone goes back that far; a shallow one, or a mere copy of the files, does not. */
export function hasPreviousRelease(): boolean {
  const { status } = spawnSync('git', ['cat-file', '-e', `${previousRelease}^{commit}`], { cwd: repositoryRoot() })
  if (status !== 0) console.warn(`The commit ${previousRelease} is not here: upgrades from it are not tested.`)
  return status === 0
}

/** Makes its programs, once for each checkout. */
export async function bundlePreviousRelease(): Promise<void> {
  const script = join(repositoryRoot(), 'scripts/bundle-release.mjs')
  await run(process.execPath, [script, previousRelease, folder], { cwd: repositoryRoot() })
}

/** Where its program of a service is, as `startService` wants it. */
export function previousBundle(name: ServiceName): string {
  const own = join(repositoryRoot(), 'services', name, 'dist')
  return relative(own, join(folder, 'services', name, 'dist/main.mjs'))
}

/** Applies migrations to a database: this version's, or the previous one's. */
export async function deploy(version: 'this' | 'previous', databaseUrl: string): Promise<string[]> {
  const program = join(version === 'this' ? repositoryRoot() : folder, 'prisma/dist/main.mjs')
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  const { stdout } = await run(process.execPath, [program, 'deploy'], { env })
  return stdout.split('\n').flatMap(line => /^applied (\S+)/.exec(line)?.[1] ?? [])
}
