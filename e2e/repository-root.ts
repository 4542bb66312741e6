import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Finds the root of the repository from this module, source or bundle. */
export function repositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) {
    if (dirname(folder) === folder) throw new Error('This is not run from within the repository.')
    folder = dirname(folder)
  }
  return folder
}
