// `npm test`, `npm run test:unit` and `npm run test:all`: runs the lanes of vitest.config.ts, or the files below the given paths.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

const repository = resolve(fileURLToPath(import.meta.url), '../..')
const lanes = { unit: ['unit'], most: ['unit', 'sql', 'service', 'e2e'], all: ['*'] }

const [scope, ...args] = process.argv.slice(2)
bootstrap()
process.exitCode = await runVitest([...lanes[scope].flatMap(lane => ['--project', lane]), ...args])

async function runVitest(args) {
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  // Properties, permissions and requests are checked in full only where time does not matter.
  const env = scope === 'all' ? { PROPERTY_RUNS: 'full', ...process.env } : process.env
  const child = spawn(process.execPath, [vitest, 'run', ...args], { cwd: repository, stdio: 'inherit', env })
  // Ctrl-C reaches Vitest directly; a second signal would interrupt its clean-up.
  process.on('SIGINT', () => {}).on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return code ?? 1
}
