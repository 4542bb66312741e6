// `npm run bench`: see docs/benchmarks.md. `--node <path>` runs all sides with another Node than this one.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
// In its own process, because the bundler's helper process would otherwise stay during the benchmarks.
const bundle = fileURLToPath(new URL('bundle-bench.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [bundle], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
const args = process.argv.slice(2)
const at = args.indexOf('--node')
const [, node = process.execPath] = at === -1 ? [] : args.splice(at, 2)
const main = fileURLToPath(new URL('../bench/dist/main.mjs', import.meta.url))
const bench = spawn(node, [main, ...args], { stdio: 'inherit' })
// Ctrl-C reaches it directly.
process.on('SIGINT', () => {}).on('SIGTERM', () => bench.kill('SIGTERM'))
const [code] = await once(bench, 'exit')
process.exitCode = code ?? 1
