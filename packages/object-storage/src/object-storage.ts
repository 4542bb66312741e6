import type { Readable } from 'node:stream'
import type { StoragePlace } from './storage-url.ts'

/** Objects of one place, by their keys below its prefix. */
export type ObjectStorage = {
  /**
   * Writes an object, and compares what the server has stored.
   * @param checksum - The SHA-256 of the bytes in base64.
   */
  write(key: string, bytes: Buffer, checksum: string): Promise<void>
  read(key: string): Promise<Readable>
  /** Deletes an object. A missing object is no error. */
  remove(key: string): Promise<void>
  /**
   * Returns up to 1,000 keys that begin with a prefix, in their order.
   * @param after - The last key of the page before; null for the first page.
   */
  list(prefix: string, after: string | null): Promise<string[]>
  close(): Promise<void>
}

/** Object storage does not answer, or refuses. */
class ObjectStorageError extends Error {}

/** There is no object with this key. */
export class MissingObjectError extends Error {}

type Limits = {
  /** How long an upload may take. Default: 2 minutes. */
  writeMs?: number
  /** How long a read, a deletion or a list may take. Default: 30 s. */
  readMs?: number
}

/** Opens object storage. It loads the AWS SDK and connects on first use. */
export function openObjectStorage(
  place: StoragePlace,
  { writeMs = 120_000, readMs = 30_000 }: Limits = {},
): ObjectStorage {
  let objects: Promise<ReturnType<Loaded>> | null = null
  const load = () => {
    objects ??= import('./s3-objects.ts').then(({ openS3Objects }) => openS3Objects(place))
    return objects
  }
  return {
    async write(key, bytes, checksum) {
      const stored = await explained(
        place,
        load().then(one => one.write(key, bytes, checksum, AbortSignal.timeout(writeMs))),
      )
      if (stored !== checksum)
        throw new ObjectStorageError(`s3://${place.bucket} has stored other bytes than were sent.`)
    },
    read: key =>
      explained(
        place,
        load().then(one => one.read(key, AbortSignal.timeout(readMs))),
      ),
    remove: key =>
      explained(
        place,
        load().then(one => one.remove(key, AbortSignal.timeout(readMs))),
      ),
    list: (prefix, after) =>
      explained(
        place,
        load().then(one => one.list(prefix, after, AbortSignal.timeout(readMs))),
      ),
    close: async () => (await objects)?.close(),
  }
}

type Loaded = typeof import('./s3-objects.ts')['openS3Objects']

async function explained<T>(place: StoragePlace, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const { name, message } = cause as Error
    const text = `Object storage s3://${place.bucket}: ${name}: ${message}`
    throw name === 'NoSuchKey' ? new MissingObjectError(text, { cause }) : new ObjectStorageError(text, { cause })
  }
}
