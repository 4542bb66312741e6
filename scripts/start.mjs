// `npm start`: runs Belfry and everything it needs on a machine with only Node.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

const help = `Usage: npm start

Installs, builds and runs Belfry on this machine until Ctrl-C. It has no options, and reads variables:
  PORT          the port of the API and the dashboard (default: 3000)
  DATA_DIR      the folder of all data (default: .belfry in the checkout)
  DEMO=on       adds a workspace with examples
  DATABASE_URL  a PostgreSQL (15 or newer) instead of the included one
`
const [option] = process.argv.slice(2)
if (option !== undefined) {
  const isHelp = option === '--help' || option === '-h'
  process[isHelp ? 'stdout' : 'stderr'].write(isHelp ? help : `npm start has no option ${option}.\n\n${help}`)
  process.exit(isHelp ? 0 : 2)
}

bootstrap({ forStart: true })
// In its own process: what the bundlers have loaded, some 400 MB, would stay as long as Belfry runs.
const bundle = fileURLToPath(new URL('bundle.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [bundle, '--for-start'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
// In this process, so signals reach the launcher, and its end is the end of `npm start`.
await import('../programs/launcher/dist/main.mjs')
