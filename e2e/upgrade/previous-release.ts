import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { ServiceName } from '../processes.ts'
import { repositoryRoot } from '../repository-root.ts'

// Until there is a release, the commit that writes this line stands for it. A schema that older processes cannot work beside
// changes the line.
const pin = 'waits_for, bulk_operations and reports'
const folder = join(repositoryRoot(), 'node_modules/.cache/previous-release')
const run = promisify(execFile)

/**
 * The commit of the previous release, whose processes must work in parallel with those of this version. Empty in a shallow
 * clone and in a copy of the files.
 */
export const previousRelease = findPreviousRelease()

function findPreviousRelease(): string {
  if (git('rev-parse', '--is-shallow-repository') !== 'false') return ''
  const path = 'e2e/upgrade/previous-release.ts'
  return git('log', '--first-parent', '--reverse', `-S${pin}`, '--format=%H', '--', path).split('\n')[0] ?? ''
}

function git(...args: string[]): string {
  const { stdout } = spawnSync('git', args, { cwd: repositoryRoot(), encoding: 'utf8' })
  return stdout?.trim() ?? '' // null without git
}

/** Returns whether this clone contains that commit. */
export function hasPreviousRelease(): boolean {
  if (previousRelease === '') console.warn('The previous release is not here: upgrades from it are not tested.')
  return previousRelease !== ''
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

/** Returns the migrations and the changed files of prisma/sql that this version has in addition to the previous one, sorted. */
export function addedSql(): string[] {
  const textOf = (root: string, path: string) => {
    const file = join(root, 'prisma', path)
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }
  const [migrations, files] = ['migrations', 'sql'].map(name =>
    readdirSync(join(repositoryRoot(), 'prisma', name)).sort(),
  )
  return [
    ...(migrations ?? []).filter(name => !existsSync(join(folder, 'prisma/migrations', name))),
    ...(files ?? []).filter(name => textOf(folder, `sql/${name}`) !== textOf(repositoryRoot(), `sql/${name}`)),
  ]
}
