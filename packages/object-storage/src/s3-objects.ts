import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { createS3Client } from './s3-client.ts'
import type { StoragePlace } from './storage-url.ts'

/** Loaded by `openObjectStorage` on first use, because the AWS SDK is large. */
export function openS3Objects(place: StoragePlace) {
  const client = createS3Client(place)
  const folder = place.prefix === '' ? '' : `${place.prefix}/`
  const at = (key: string) => ({ Bucket: place.bucket, Key: `${folder}${key}` })

  async function read(key: string, signal: AbortSignal): Promise<Readable> {
    const { Body } = await client.send(new GetObjectCommand(at(key)), { abortSignal: signal })
    return Body as Readable // in Node
  }

  return {
    read,
    /** Returns the SHA-256 in base64 of what the server has stored. */
    async write(key: string, bytes: Buffer, checksum: string, signal: AbortSignal): Promise<string> {
      const put = new PutObjectCommand({ ...at(key), Body: bytes, ChecksumSHA256: checksum })
      const { ChecksumSHA256 } = await client.send(put, { abortSignal: signal })
      if (ChecksumSHA256 !== undefined) return ChecksumSHA256
      // This server does not compute checksums.
      const hash = createHash('sha256')
      for await (const chunk of await read(key, signal)) hash.update(chunk)
      return hash.digest('base64')
    },
    async remove(key: string, signal: AbortSignal): Promise<void> {
      await client.send(new DeleteObjectCommand(at(key)), { abortSignal: signal })
    },
    async list(prefix: string, after: string | null, signal: AbortSignal): Promise<string[]> {
      const start = after === null ? {} : { StartAfter: `${folder}${after}` }
      const page = new ListObjectsV2Command({ Bucket: place.bucket, Prefix: `${folder}${prefix}`, ...start })
      const { Contents = [] } = await client.send(page, { abortSignal: signal })
      return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(folder.length)]))
    },
    close: () => client.destroy(),
  }
}
