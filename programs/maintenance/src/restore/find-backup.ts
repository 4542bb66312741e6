import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { PlainError } from '@belfry/launcher'
import { isReadable } from '../backup/backup-store.ts'
import { manifestName } from '../backup/manifest.ts'
import { openStore } from '../backup/open-store.ts'
import { type Installation, readBackupSettings } from '../config.ts'

/**
 * Returns the folder of a backup: a folder by its path, `s3://bucket/prefix/name`, a name in BACKUP_FOLDER, or `latest`.
 * `latest` is refused while the newest backup cannot be read: an older one would lose tasks without a word.
 * @param work - Receives a backup from object storage.
 */
export async function findBackup(installation: Installation, wanted: string, work: string): Promise<string> {
  if (existsSync(join(wanted, manifestName))) return resolve(wanted)
  const isAddress = wanted.startsWith('s3://')
  const store = openStore(
    readBackupSettings(installation, isAddress ? wanted.slice(0, wanted.lastIndexOf('/')) : undefined),
  )
  const backups = await store.list()
  const name = isAddress ? basename(wanted) : wanted
  const found = name === 'latest' ? backups[0] : backups.find(backup => backup.name === name)
  if (found && isReadable(found)) return store.fetch(found.name, work)
  const newest = backups.find(isReadable)
  const known = newest ? `The newest that can be read is ${newest.name}.` : 'It has no complete backup.'
  if (found) throw new PlainError(`The backup ${found.name} cannot be read: ${found.problem}\n${known}`)
  throw new PlainError(`There is no backup ${basename(name)} in ${store.place}. ${known}`)
}
