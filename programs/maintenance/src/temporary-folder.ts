import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const options = { recursive: true, force: true, maxRetries: 5 }
const weekMs = 7 * 24 * 3_600_000

/** Makes a folder that is removed with its scope. Its path begins with the prefix. */
export async function temporaryFolder(prefix: string) {
  await removeOld(prefix)
  const path = await mkdtemp(prefix)
  return { path, [Symbol.asyncDispose]: () => rm(path, options) }
}

// Killed processes left them. What another user owns stays.
async function removeOld(prefix: string): Promise<void> {
  const parent = dirname(prefix)
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    if (!path.startsWith(prefix) || path.length !== prefix.length + 'XXXXXX'.length) continue
    const found = await lstat(path).catch(() => null)
    if (!found?.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) continue
    if (found.mtimeMs < Date.now() - weekMs) await rm(path, options).catch(() => {})
  }
}
