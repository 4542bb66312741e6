import { parseRelease, releaseHeld } from '@belfry/db/migrate/operator-commands'
import { PlainError } from '@belfry/launcher'
import type { Command } from 'commander'
import { readInstallation } from '../config.ts'
import { openDatabase } from '../open-database.ts'

type Options = Parameters<typeof parseRelease>[0]

export function addReleaseHeld(program: Command): void {
  program
    .command('release-held')
    .description('release the tasks that are held since a restore')
    .option('--workspace <id>', 'only those of one workspace')
    .option('--rate <count>', 'so many tasks a second, those due first come first (default: all at once)')
    .action(release)
}

async function release(options: Options): Promise<void> {
  const wanted = readRelease(options)
  await using database = await openDatabase(readInstallation())
  await releaseHeld(database.url, line => process.stdout.write(`${line}\n`), wanted)
}

export function readRelease(options: Options) {
  try {
    return parseRelease(options)
  } catch (error) {
    throw new PlainError((error as Error).message)
  }
}
