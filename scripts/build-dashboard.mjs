// Builds the dashboard into the folder that the API serves, unless it is up to date.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build } from 'vite'

const inputs = [
  ...['index.html', 'package.json', 'vite.config.ts', 'public', 'src'].map(name => `packages/dashboard/${name}`),
  'packages/client/src/server-sent-events.ts',
  'packages/domain/src',
  'pnpm-lock.yaml',
  'scripts/build-dashboard.mjs',
]

/** Builds the dashboard of the repository at `root`. */
export async function buildDashboard(root) {
  const folder = join(root, 'services/api/dist/dashboard')
  const stamp = join(root, 'services/api/dist/dashboard.stamp')
  const wanted = hash(root)
  if (existsSync(join(folder, 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  rmSync(stamp, { force: true })
  await asProduction(() =>
    build({
      root: join(root, 'packages/dashboard'),
      configFile: join(root, 'packages/dashboard/vite.config.ts'),
      build: { outDir: folder, emptyOutDir: true },
      logLevel: 'warn',
    }),
  )
  for (const path of filesOf(folder).filter(path => /\.(js|css|html|svg)$/.test(path))) await compress(path)
  writeFileSync(stamp, wanted)
}

// Independent of the caller: with another NODE_ENV, as in tests, Vite would bundle development versions of libraries.
async function asProduction(work) {
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  try {
    await work()
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
}

async function compress(path) {
  const content = readFileSync(path)
  writeFileSync(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
  writeFileSync(`${path}.br`, await promisify(brotliCompress)(content))
}

function hash(root) {
  const sum = createHash('sha256')
  for (const path of inputs.map(input => join(root, input)).flatMap(filesOf))
    sum.update(path).update(readFileSync(path))
  return sum.digest('hex')
}

function filesOf(path) {
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [path]
  const entries = readdirSync(path, { withFileTypes: true, recursive: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}
