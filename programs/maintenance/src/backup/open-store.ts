import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf, PlainError, reasonOf } from '@belfry/launcher'
import type { BackupSettings } from '../config.ts'
import { type BackupStore, describeBackups, nameForm } from './backup-store.ts'
import { manifestName } from './manifest.ts'
import { openBucket } from './open-bucket.ts'

export function openStore({ folder, s3 }: BackupSettings): BackupStore {
  return folder.startsWith('s3://') ? openBucket(folder, s3) : openFolder(folder)
}

function openFolder(root: string): BackupStore {
  return {
    place: root,
    // Readers see only complete backups.
    put: folder => rename(folder, join(root, basename(folder))),
    async list() {
      const names = (await unlessAbsent(readdir(root))) ?? []
      return describeBackups(
        names.filter(name => nameForm.test(name)),
        name => unlessAbsent(readFile(join(root, name, manifestName), 'utf8')),
      )
    },
    fetch: async name => join(root, name),
    remove: name => rm(join(root, name), { recursive: true, force: true }),
  }
}

/** Returns the content of a file or folder; null if it does not exist. */
function unlessAbsent<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch(error => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null
    throw new PlainError(reasonOf(error))
  })
}
