import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkout, PlainError } from '@belfry/launcher'
import { environment } from './config.ts'

/** Runs a command of the migration program on a database, and returns what it prints. */
export async function migrate(url: string, args: string[], given = environment): Promise<string> {
  const program = join(checkout, 'prisma/dist/main.mjs')
  const env = { ...given, DATABASE_URL: url, DATABASE_URL_FILE: '' }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env })
    return stdout.trim()
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new PlainError(`${args[0]} failed on the database: ${stderr.trim()}`)
  }
}
