import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PlainError } from '@belfry/launcher'
import { z } from 'zod'

/** The name of the file that describes a backup. It is written last, so a backup without it is incomplete. */
export const manifestName = 'manifest.json'

/** The tables whose rows are counted: they only grow, except for deletions by users and retention. */
export const countedTables = ['organizations', 'workspaces', 'users', 'tasks', 'cron_jobs', 'runs', 'secrets'] as const

const schema = z.object({
  format: z.literal(1),
  /** `files`: the data directory of an embedded PostgreSQL. `dump`: made by pg_dump. */
  kind: z.enum(['files', 'dump']),
  createdAt: z.string(),
  /** The version of Belfry. */
  version: z.string(),
  /** The last applied migration. */
  migration: z.string(),
  /** The version of PostgreSQL, such as `18.4`. */
  postgres: z.string(),
  /** The rows of each counted table: at the moment of a dump, or just before the backup of files. */
  rows: z.record(z.string(), z.number()),
  /** Whether `secrets.json` is in the backup. */
  hasSecrets: z.boolean(),
  files: z.array(z.object({ name: z.string(), bytes: z.number(), sha256: z.string() })),
})

/** What a backup contains. */
export type Manifest = z.infer<typeof schema>

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => {
    throw new PlainError(`${folder} is not a complete backup: it has no ${manifestName}.`)
  })
  return parseManifest(text)
}

export function parseManifest(text: string): Manifest {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new PlainError(`The ${manifestName} of this backup is damaged, or a later version of Belfry wrote it.`)
  }
}

export async function describeFile(folder: string, name: string) {
  const path = join(folder, name)
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { name, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}

/** Throws unless each file of a backup is there and unchanged. */
export async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const { name, bytes, sha256 } of files) {
    const found = await describeFile(folder, name).catch(() => null)
    if (found === null) throw new PlainError(`The backup lacks its file ${name}.`)
    if (found.bytes !== bytes || found.sha256 !== sha256) {
      throw new PlainError(`The file ${name} of the backup is damaged: its checksum differs from the manifest.`)
    }
  }
}
