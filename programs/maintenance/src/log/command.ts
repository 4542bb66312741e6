import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { LogPart } from '@belfry/db/log-parts/find-parts'
import { partsOfDay, restorePart } from '@belfry/db/log-parts/restore-part'
import { openPool } from '@belfry/db/postgres/pool'
import { PlainError } from '@belfry/launcher'
import {
  checksumOf,
  type ObjectStorage,
  openObjectStorage,
  parseStorageUrl,
  readLines,
  type StoragePlace,
} from '@belfry/object-storage'
import type { Command } from 'commander'
import { type Installation, readInstallation } from '../config.ts'
import { openDatabase } from '../open-database.ts'
import { readRelease } from '../restore/release-held.ts'

type Options = { workspace?: string; days: string }

export function addLog(program: Command): void {
  program
    .command('log')
    .description('manage the part of the activity log that is in object storage')
    .command('restore')
    .argument('<day>', 'a day in UTC: 2026-11-25')
    .description('put the runs of a day, and their tasks, back into PostgreSQL while the installation runs')
    .option('--workspace <id>', 'only those of one workspace')
    .option('--days <count>', 'for how long they stay there', '7')
    .action(restoreDay)
}

async function restoreDay(day: string, options: Options): Promise<void> {
  const wanted = parseOptions(day, options)
  const installation = readInstallation()
  const place = readPlace(installation)
  await using database = await openDatabase(installation)
  const pool = openPool(database.url, { name: 'belfry-maintenance', max: 1, onError: () => {} })
  const objects = openObjectStorage(place)
  try {
    const parts = await partsOfDay(pool, day, wanted.workspaceId)
    let runs = 0
    const unreadable: string[] = []
    for (const part of parts) {
      try {
        runs += (await restorePart(pool, part, await readPart(objects, part), wanted.days)) ?? 0
      } catch (error) {
        if (!(error instanceof PlainError)) throw error
        unreadable.push(error.message)
      }
    }
    const restored = parts.length - unreadable.length
    process.stdout.write(`${runs} runs of ${day} restored from ${restored} parts, for ${wanted.days} days\n`)
    if (unreadable.length > 0) throw new PlainError(unreadable.join('\n'))
  } finally {
    await Promise.all([pool.end(), objects.close()])
  }
}

function parseOptions(day: string, { workspace, days }: Options): { workspaceId: string | null; days: number } {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day
  if (!isDay) throw new PlainError('The day must be one in UTC, such as 2026-11-25.')
  const { workspaceId } = readRelease({ workspace })
  const count = Number(days)
  if (!Number.isInteger(count) || count < 1 || count > 3_650)
    throw new PlainError('--days takes a whole number from 1 to 3650.')
  return { workspaceId, days: count }
}

function readPlace({ env }: Installation): StoragePlace {
  if (!env.LOG_STORAGE_URL) throw new PlainError('LOG_STORAGE_URL is not set: s3://bucket/prefix.')
  try {
    return parseStorageUrl(env.LOG_STORAGE_URL)
  } catch (error) {
    throw new PlainError(`LOG_STORAGE_URL ${(error as Error).message}.`)
  }
}

async function readPart(objects: ObjectStorage, { objectKey, checksum }: LogPart): Promise<string[]> {
  try {
    const bytes = await buffer(await objects.read(objectKey))
    // Not every server sends a checksum that the AWS SDK compares.
    if (checksumOf(bytes) !== checksum) throw new Error('its checksum differs')
    const lines: string[] = []
    for await (const line of readLines(Readable.from([bytes]))) lines.push(line)
    return lines
  } catch (error) {
    throw new PlainError(`${objectKey} cannot be read: ${(error as Error).message}`)
  }
}
