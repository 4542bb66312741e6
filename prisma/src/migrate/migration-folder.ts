import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns the folder of schema.prisma and the migrations: the nearest one above this module, source or bundle. */
export function findMigrationFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'schema.prisma'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error(`No folder above ${fileURLToPath(import.meta.url)} contains schema.prisma.`)
    folder = parent
  }
  return folder
}

export async function readMigrationFiles(folder: string): Promise<Array<{ name: string; script: string }>> {
  const baseDir = join(folder, 'migrations')
  const entries = await readdir(baseDir, { withFileTypes: true })
  const names = entries.filter(entry => entry.isDirectory()).map(entry => entry.name)
  return Promise.all(
    names.sort().map(async name => ({ name, script: await readFile(join(baseDir, name, 'migration.sql'), 'utf8') })),
  )
}
