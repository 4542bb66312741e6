// `npm run test:faults` and `npm run torture`: see docs/fault-tests.md.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
// In its own process, because the bundler's helper process would otherwise stay during the rows.
const bundle = fileURLToPath(new URL('bundle-faults.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [bundle], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
await import('../e2e/dist/faults.mjs')
