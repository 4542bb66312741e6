import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PlainError } from './plain-error.ts'

/** Creates the data directory, or throws an error with the reason and a solution. */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new PlainError(
      `The data directory ${dataDir} cannot be used: ${reason(error)}.\n` +
        'Change its owner to your user, or choose another directory: DATA_DIR=/some/where npm start',
    )
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES' || code === 'EPERM')
    return 'you have no permission to write there (did another user, such as root, create it?)'
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'a file is in its place'
  return error instanceof Error ? error.message : String(error)
}
