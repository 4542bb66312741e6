import { PlainError } from '@belfry/launcher'
import { type Manifest, parseManifest } from './manifest.ts'

export type StoredBackup = { name: string; manifest: Manifest }

/** A complete backup of a store, or one whose manifest cannot be read. */
export type ListedBackup = StoredBackup | { name: string; problem: string }

/** Where backups are kept: a folder, or a bucket of object storage. */
export type BackupStore = {
  /** The place, for messages. */
  place: string
  /** Puts the backup in a folder into the store, its manifest last. The folder has its name; a folder store moves it. */
  put(folder: string): Promise<void>
  /** Returns the complete backups and the unreadable ones, the newest first. */
  list(): Promise<ListedBackup[]>
  /** Copies a backup to a new folder below `parent`, and returns that folder. A folder store returns its own. */
  fetch(name: string, parent: string): Promise<string>
  remove(name: string): Promise<void>
}

/** The form of the names of backups. They sort by time. */
export const nameForm = /^belfry-\d{8}T\d{6}Z$/

export function isReadable(backup: ListedBackup): backup is StoredBackup {
  return 'manifest' in backup
}

/**
 * Lists the backups of these names, the newest first.
 * @param read - Returns the text of a manifest, or null if there is none: the backup is incomplete. A PlainError says why
 * only this backup cannot be read.
 */
export async function describeBackups(
  names: readonly string[],
  read: (name: string) => Promise<string | null>,
): Promise<ListedBackup[]> {
  const describe = async (name: string): Promise<ListedBackup[]> => {
    try {
      const text = await read(name)
      return text === null ? [] : [{ name, manifest: parseManifest(text) }]
    } catch (error) {
      if (error instanceof PlainError) return [{ name, problem: error.message }]
      throw error
    }
  }
  const found = (await Promise.all(names.map(describe))).flat()
  return found.sort((a, b) => b.name.localeCompare(a.name))
}

/** Deletes all but the newest backups, but none that cannot be read. Returns the names of the deleted ones. */
export async function prune(store: BackupStore, keep: number): Promise<string[]> {
  const old = (await store.list()).filter(isReadable).slice(keep)
  for (const { name } of old) await store.remove(name)
  return old.map(({ name }) => name)
}

/** Returns the size of a backup in bytes. */
export function sizeOf({ files }: Manifest): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
