// Generates the Prisma client into prisma/src/generated, or that of another folder. The CLI requires a schema-engine
// binary, which it never runs for this command and which may not be downloadable, so it gets the path of another existing
// file.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [, , room = join(dirname(fileURLToPath(import.meta.url)), '..', 'prisma')] = process.argv
const cli = createRequire(join(room, 'package.json')).resolve('prisma/build/index.js')
// The CLI loads parts that are not installed, and that this command does not use.
const withoutParts = `import Module from 'node:module'
  const load = Module._load
  Module._load = (name, ...rest) => (/^@prisma\\/(dev|studio-core)(\\/|$)/.test(name) ? {} : load(name, ...rest))`
const preload = `data:text/javascript,${encodeURIComponent(withoutParts)}`
const { status } = spawnSync(process.execPath, ['--import', preload, cli, 'generate'], {
  cwd: room,
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
})
process.exitCode = status ?? 1
