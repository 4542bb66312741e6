// `npm run bench`: see docs/benchmarks.md.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
// In its own process, because the bundler's helper process would otherwise stay during the benchmarks.
const bundle = fileURLToPath(new URL('bundle-bench.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [bundle], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
await import('../bench/dist/main.mjs')
