import type { BackupSettings } from '../config.ts'
import type { BackupStore } from './backup-store.ts'
import { openBucket } from './open-bucket.ts'
import { openFolder } from './open-folder.ts'

/** Opens the store of the settings. */
export function openStore({ folder, s3 }: BackupSettings): BackupStore {
  return folder.startsWith('s3://') ? openBucket(folder, s3) : openFolder(folder)
}
