// Writes the tables of docs/scaling.md from the capacity model: `node scripts/capacity.mjs`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const options = { bundle: true, write: false, platform: 'node', format: 'esm' }
const entry = join(root, 'bench/src/capacity/describe-capacity.ts')
const { outputFiles } = await build({ entryPoints: [entry], ...options })
await stop()
const { describeCapacity } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)

const page = join(root, 'docs/scaling.md')
const block = /(<!-- capacity: written by node scripts\/capacity.mjs -->\n)[\s\S]*(\n<!-- end of capacity -->)/
const text = readFileSync(page, 'utf8')
writeFileSync(
  page,
  text.replace(block, (_, begin, end) => `${begin}\n${describeCapacity()}\n${end}`),
)
