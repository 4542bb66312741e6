import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BackupSettings } from '../config.ts'
import { type BackupStore, nameForm, type StoredBackup, sizeOf } from './backup-store.ts'
import { manifestName, readManifest } from './manifest.ts'
import { openBucket } from './open-bucket.ts'

/** Opens the store of the settings. */
export function openStore({ folder, s3 }: BackupSettings): BackupStore {
  return folder.startsWith('s3://') ? openBucket(folder, s3) : openFolder(folder)
}

/** Opens a store in a folder of this machine. */
function openFolder(root: string): BackupStore {
  return {
    place: root,
    // Readers see only complete backups.
    put: folder => rename(folder, join(root, basename(folder))),
    async list() {
      const names = await readdir(root).catch(() => [])
      const found = await Promise.all(names.filter(name => nameForm.test(name)).map(readBackup))
      return found.filter(backup => backup !== null).sort((a, b) => b.name.localeCompare(a.name))
    },
    fetch: async name => join(root, name),
    remove: name => rm(join(root, name), { recursive: true, force: true }),
  }

  async function readBackup(name: string): Promise<StoredBackup | null> {
    const folder = join(root, name)
    const manifest = await stat(join(folder, manifestName)).then(
      () => readManifest(folder),
      () => null,
    )
    return manifest && { name, manifest, bytes: sizeOf(manifest) }
  }
}
