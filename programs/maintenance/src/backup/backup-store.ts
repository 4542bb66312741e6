import type { Manifest } from './manifest.ts'

/** A complete backup of a store. */
export type StoredBackup = { name: string; manifest: Manifest; bytes: number }

/** Where backups are kept: a folder, or a bucket of object storage. */
export type BackupStore = {
  /** The place, for messages. */
  place: string
  /** Puts the backup in a folder into the store, its manifest last. The folder has its name; a folder store moves it. */
  put(folder: string): Promise<void>
  /** Returns the complete backups, the newest first. */
  list(): Promise<StoredBackup[]>
  /** Copies a backup to a new folder below `parent`, and returns that folder. A folder store returns its own. */
  fetch(name: string, parent: string): Promise<string>
  remove(name: string): Promise<void>
}

/** The form of the names of backups. They sort by time. */
export const nameForm = /^belfry-\d{8}T\d{6}Z$/

/** Deletes all but the newest backups. Returns the names of the deleted ones. */
export async function prune(store: BackupStore, keep: number): Promise<string[]> {
  const old = (await store.list()).slice(keep)
  for (const { name } of old) await store.remove(name)
  return old.map(({ name }) => name)
}

/** Returns the size of a backup in bytes. */
export function sizeOf({ files }: Manifest): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
