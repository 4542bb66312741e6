import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { PostgresBinaries } from './postgres-binaries.ts'

/**
 * Copies the server's programs (60 MB) to where every user can read them, once: below a home that only root may enter,
 * initdb does not find its own files, whatever rights it is given.
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
  // Anybody can make a folder of that name, and root is going to run what is in it.
  if (uid !== process.getuid?.() || mode & 0o022) throw new Error(`${target} is not ours. Remove it, then start again.`)
  return { initdb: join(target, 'bin', basename(initdb)), postgres: join(target, 'bin', basename(postgres)) }
}
