// `npm run bench`: see docs/benchmarks.md.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
// In a process of its own: the bundler keeps one that would stay for as long as the benchmarks run.
const bundle = fileURLToPath(new URL('bundle-bench.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [bundle], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
await import('../bench/dist/main.mjs')
