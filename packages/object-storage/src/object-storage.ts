import type { Readable } from 'node:stream'
import type { StoragePlace } from './storage-url.ts'

/** Objects of one place, by their keys below its prefix. */
export type ObjectStorage = ReturnType<typeof openObjectStorage>

/** Object storage does not answer, or refuses. */
class ObjectStorageError extends Error {}

export class MissingObjectError extends Error {}

// How long an upload may take, and a read, a deletion or a list.
const [writeMs, readMs] = [120_000, 30_000]

/** Opens object storage. It loads the AWS SDK and connects on first use. */
export function openObjectStorage(place: StoragePlace) {
  let loading: Promise<S3Objects> | null = null
  async function ask<T>(work: (objects: S3Objects) => Promise<T>): Promise<T> {
    loading ??= import('./s3-objects.ts').then(({ openS3Objects }) => openS3Objects(place))
    try {
      return await work(await loading)
    } catch (cause) {
      const { name, message } = cause as Error
      const text = `Object storage s3://${place.bucket}: ${name}: ${message}`
      throw name === 'NoSuchKey' ? new MissingObjectError(text, { cause }) : new ObjectStorageError(text, { cause })
    }
  }
  return {
    /**
     * Writes an object, and compares what the server has stored.
     * @param checksum - The SHA-256 of the bytes in base64.
     */
    async write(key: string, bytes: Buffer, checksum: string): Promise<void> {
      const stored = await ask(objects => objects.write(key, bytes, checksum, AbortSignal.timeout(writeMs)))
      if (stored !== checksum)
        throw new ObjectStorageError(`s3://${place.bucket} has stored other bytes than were sent.`)
    },
    read: (key: string): Promise<Readable> => ask(objects => objects.read(key, AbortSignal.timeout(readMs))),
    /** Deletes an object. A missing object is no error. */
    remove: (key: string): Promise<void> => ask(objects => objects.remove(key, AbortSignal.timeout(readMs))),
    /**
     * Returns up to 1,000 keys that begin with a prefix, in their order.
     * @param after - The last key of the page before; null for the first page.
     */
    list: (prefix: string, after: string | null): Promise<string[]> =>
      ask(objects => objects.list(prefix, after, AbortSignal.timeout(readMs))),
    close: async (): Promise<void> => (await loading)?.close(),
  }
}

type S3Objects = ReturnType<typeof import('./s3-objects.ts')['openS3Objects']>
