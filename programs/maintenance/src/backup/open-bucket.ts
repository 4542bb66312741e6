import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { DeleteObjectsCommand, GetObjectCommand, paginateListObjectsV2, S3ServiceException } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { PlainError, reasonOf } from '@belfry/launcher'
import { createS3Client } from '@belfry/object-storage/s3-client'
import type { BackupSettings } from '../config.ts'
import { type BackupStore, describeBackups, nameForm } from './backup-store.ts'
import { manifestName, readManifest } from './manifest.ts'

/** Opens a store on object storage: `s3://bucket/prefix`. Each file of a backup is one object. */
export function openBucket(place: string, settings: BackupSettings['s3']): BackupStore {
  const { hostname: bucket, pathname } = new URL(place)
  const prefix = pathname.replace(/^\/|\/$/g, '').replace(/.$/, '$&/')
  const keyOf = (...parts: string[]) => prefix + parts.join('/')
  const client = createS3Client(settings)

  async function upload(folder: string, file: string): Promise<void> {
    const Body = createReadStream(join(folder, file))
    // In parts, because an object of one part is limited to 5 GB.
    await new Upload({ client, params: { Bucket: bucket, Key: keyOf(basename(folder), file), Body } }).done()
  }

  async function read(key: string): Promise<Readable> {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
    return Body as Readable // in Node
  }

  async function keys(below: string): Promise<string[]> {
    const found: string[] = []
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: below })) {
      found.push(...Contents.flatMap(({ Key }) => Key ?? []))
    }
    return found
  }

  // Fails too for a listed object that is not found: storage may be behind, and "latest" must not pass over a new backup.
  async function readText(name: string): Promise<string> {
    try {
      return await text(await read(keyOf(name, manifestName)))
    } catch (error) {
      const { httpStatusCode: status = 500 } = error instanceof S3ServiceException ? error.$metadata : {}
      if (status >= 500) throw error
      throw new PlainError(reasonOf(error)) // such as an archived object
    }
  }

  return explained(place, {
    place,
    async put(folder) {
      const files = (await readdir(folder)).filter(file => file !== manifestName)
      for (const file of files) await upload(folder, file)
      await upload(folder, manifestName)
    },
    list: async () => describeBackups(namesOf(await keys(prefix), prefix), readText),
    async fetch(name, parent) {
      const folder = join(parent, name)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await download(name, manifestName, folder)
      for (const file of (await readManifest(folder)).files) await download(name, file.name, folder)
      return folder
    },
    async remove(name) {
      const below = await keys(`${keyOf(name)}/`)
      // Deletes the manifest first: readers ignore a backup without a manifest.
      const ordered = below.sort((a, b) => Number(b.endsWith(manifestName)) - Number(a.endsWith(manifestName)))
      for (const Key of ordered) {
        await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: [{ Key }] } }))
      }
    },
  })

  async function download(name: string, file: string, folder: string): Promise<void> {
    await pipeline(await read(keyOf(name, file)), createWriteStream(join(folder, file), { mode: 0o600 }))
  }
}

/** Returns the names of the complete backups directly below a prefix. Deeper ones belong to other stores. */
export function namesOf(keys: readonly string[], prefix: string): string[] {
  return keys.flatMap(key => {
    const name = key.split('/').at(-2) ?? ''
    return nameForm.test(name) && key === `${prefix}${name}/${manifestName}` ? [name] : []
  })
}

/** Returns a store whose errors name the place. */
function explained(place: string, store: BackupStore): BackupStore {
  const explain = (error: unknown): never => {
    if (error instanceof PlainError || !(error instanceof Error)) throw error
    throw new PlainError(`Object storage ${place}: ${error.name}: ${error.message}`)
  }
  return {
    place: store.place,
    put: folder => store.put(folder).catch(explain),
    list: () => store.list().catch(explain),
    fetch: (name, parent) => store.fetch(name, parent).catch(explain),
    remove: name => store.remove(name).catch(explain),
  }
}
