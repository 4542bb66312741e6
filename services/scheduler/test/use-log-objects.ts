import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ObjectStorage, openObjectStorage } from '@belfry/object-storage'
import { startObjectStore } from '@belfry/test-support'
import { afterAll, beforeAll, vi } from 'vitest'

/** Starts an S3 server for the tests of a `describe`. `bucketFolder` holds its objects as files. */
export function useLogObjects(): { objects: ObjectStorage; bucketFolder: string } {
  const used = {} as { objects: ObjectStorage; bucketFolder: string } // filled before the first test
  let close: (() => Promise<void>) | undefined
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'belfry-log-'))
    const store = await startObjectStore(folder)
    vi.stubEnv('AWS_ACCESS_KEY_ID', store.accessKey)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', store.secretKey)
    const place = { bucket: store.bucket, prefix: 'belfry', endpoint: store.endpoint, region: 'us-east-1' }
    used.objects = openObjectStorage(place)
    used.bucketFolder = join(folder, 'objects', store.bucket)
    close = async () => {
      await used.objects.close()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    }
  }, 60_000)
  afterAll(async () => {
    vi.unstubAllEnvs()
    await close?.()
  })
  return used
}
