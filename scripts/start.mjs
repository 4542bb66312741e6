// `npm start`: runs Belfry and everything it needs on a machine with only Node.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
// In its own process: what the bundlers have loaded, some 400 MB, would stay as long as Belfry runs.
const { status } = spawnSync(process.execPath, [fileURLToPath(new URL('bundle.mjs', import.meta.url))], {
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)
// In this process, so signals reach the launcher, and its end is the end of `npm start`.
await import('../programs/launcher/dist/main.mjs')
