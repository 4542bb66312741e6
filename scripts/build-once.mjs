// Builds @belfry/once.
import { join } from 'node:path'
import { buildLibrary } from './build-library.mjs'

await buildLibrary(join(import.meta.dirname, '../packages/once'), [
  { file: 'index.mjs', format: 'esm' },
  { file: 'index.cjs', format: 'cjs' },
])
