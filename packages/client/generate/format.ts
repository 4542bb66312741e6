import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const biome = fileURLToPath(new URL('../../../node_modules/.bin/biome', import.meta.url))

/** Returns TypeScript in the form of this repository, with sorted imports. */
export function formatted(code: string): string {
  return execFileSync(biome, ['check', '--write', '--stdin-file-path=packages/client/src/operations/new.ts'], {
    input: code,
    encoding: 'utf8',
  })
}
