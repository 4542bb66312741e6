import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PlainError } from './plain-error.ts'

/** Makes the data directory, or says why it cannot be used and what to do. */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new PlainError(
      `The data directory ${dataDir} cannot be used: ${reason(error)}.\n` +
        'Make it a directory of yours, or choose another one: DATA_DIR=/some/where npm start',
    )
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES' || code === 'EPERM') return 'you may not write there (did another user, such as root, make it?)'
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'a file is in its place'
  return error instanceof Error ? error.message : String(error)
}
