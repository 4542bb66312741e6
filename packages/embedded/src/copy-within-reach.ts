import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { PostgresBinaries } from './postgres-binaries.ts'

/**
 * Copies the server's programs (60 MB) to a folder that every user can read, once. Below a home that only root can enter,
 * initdb cannot find its own files, even with more privileges.
 */
export function copyWithinReach({ initdb, postgres }: PostgresBinaries): PostgresBinaries {
  const source = dirname(dirname(initdb))
  const target = join('/tmp', `belfry-postgres-${createHash('sha256').update(source).digest('hex').slice(0, 12)}`)
  if (!existsSync(target)) {
    const draft = mkdtempSync(`${target}-`)
    cpSync(source, draft, { recursive: true, verbatimSymlinks: true })
    chmodSync(draft, 0o755)
    try {
      renameSync(draft, target)
    } catch {
      rmSync(draft, { recursive: true }) // another process was faster
    }
  }
  const { uid, mode } = lstatSync(target)
  // Any user can create a folder of that name, and root is going to run the programs in it.
  if (uid !== process.getuid?.() || mode & 0o022)
    throw new Error(`${target} belongs to another user. Remove it, then start again.`)
  return { initdb: join(target, 'bin', basename(initdb)), postgres: join(target, 'bin', basename(postgres)) }
}
