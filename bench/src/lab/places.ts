import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the bundles of this package, from which its programs are run. */
export const programFolder = dirname(fileURLToPath(import.meta.url))

export const repositoryRoot = resolve(programFolder, '../..')
