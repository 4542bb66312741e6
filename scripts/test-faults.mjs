// `npm run test:faults` and `npm run test:chaos`: see docs/reliability.md.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
// In a process of its own: the bundler keeps one that would stay for as long as the rows run.
const bundle = fileURLToPath(new URL('bundle-faults.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [bundle], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
await import('../e2e/dist/faults.mjs')
