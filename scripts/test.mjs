// `npm test`, `npm run test:unit` and `npm run test:all`: run the lanes of vitest.config.ts. With paths, `npm test` runs all
// tests below them, long ones too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

const repository = resolve(fileURLToPath(import.meta.url), '../..')
const lanes = { unit: ['unit'], most: ['unit', 'sql', 'service', 'e2e'], all: ['*'] }

const [scope, ...args] = process.argv.slice(2)
const hasPath = args.some(arg => !arg.startsWith('-') && (arg.includes('/') || existsSync(join(repository, arg))))
bootstrap()
process.exitCode = await runVitest(lanes[scope === 'most' && hasPath ? 'all' : scope])

async function runVitest(projects) {
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  const options = projects.map(project => `--project=${project}`)
  // Properties, permissions and generated requests are checked in full only where time does not matter.
  const env = scope === 'all' ? { PROPERTY_RUNS: 'full', ...process.env } : process.env
  const child = spawn(process.execPath, [vitest, 'run', ...options, ...args], {
    cwd: repository,
    stdio: 'inherit',
    env,
  })
  // Ctrl-C reaches Vitest directly; a second signal would interrupt its clean-up.
  process.on('SIGINT', () => {}).on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return code ?? 1
}
