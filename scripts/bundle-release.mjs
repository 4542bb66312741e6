// Bundles the programs of another commit beside this checkout: `node scripts/bundle-release.mjs <commit> <folder>`. The
// upgrade test and the benchmark `gate` run them, with the installed dependencies of this checkout.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { stop } from 'esbuild'

const root = resolve(fileURLToPath(import.meta.url), '../..')
const [commit = '', to = ''] = process.argv.slice(2)
// Several may run at once: each builds in a folder of its own.
const folder = `${resolve(to)}-${process.pid}`

if (!isBuilt()) {
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 29 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  for (const room of ['.', 'prisma', ...below('packages'), ...below('services')]) lendPackages(room)
  // By the script of this checkout, because it fits the installed packages.
  execFileSync(process.execPath, [join(root, 'scripts/prisma-generate.mjs'), join(folder, 'prisma')], {
    stdio: 'inherit',
  })
  const generator = join(folder, 'scripts/generate-clients.mjs')
  if (existsSync(generator)) {
    const { generateClients } = await import(pathToFileURL(generator).href)
    await generateClients(folder)
  }
  const { bundlePackage } = await import(pathToFileURL(join(folder, 'scripts/bundle.mjs')).href)
  for (const program of ['prisma', 'services/api', 'services/scheduler', 'services/dispatcher']) {
    await bundlePackage(program, { plugins: [ownRooms(), gonePackages()] })
  }
  await stop()
  writeFileSync(join(folder, 'commit'), commit)
  if (!isBuilt()) {
    rmSync(to, { recursive: true, force: true })
    try {
      renameSync(folder, to)
    } catch (error) {
      if (!isBuilt()) throw error // another one was first
    }
  }
  rmSync(folder, { recursive: true, force: true })
}

function isBuilt() {
  const file = join(to, 'commit')
  return existsSync(file) && readFileSync(file, 'utf8') === commit
}

function below(rooms) {
  return readdirSync(join(folder, rooms)).map(room => `${rooms}/${room}`)
}

function lendPackages(room) {
  const from = join(root, room, 'node_modules')
  if (existsSync(from)) symlinkSync(from, join(folder, room, 'node_modules'))
}

// Node_modules of this checkout links its own workspace packages, but the other commit has its own.
function ownRooms() {
  const rooms = ['prisma', ...below('packages')].filter(room => existsSync(join(folder, room, 'package.json')))
  const manifests = rooms.map(room => [room, JSON.parse(readFileSync(join(folder, room, 'package.json'), 'utf8'))])
  return {
    name: 'own-rooms',
    setup(build) {
      build.onResolve({ filter: /^@belfry\// }, ({ path }) => {
        const [scope, own, ...rest] = path.split('/')
        const [room, { exports }] = manifests.find(([, manifest]) => manifest.name === `${scope}/${own}`)
        const name = rest.join('/')
        const entry = exports[rest.length === 0 ? '.' : `./${name}`] ?? exports['./*'].replace('*', name)
        return { path: join(folder, room, typeof entry === 'string' ? entry : entry.default) }
      })
    },
  }
}

// A package that this checkout no longer has is empty: what needs it fails when it is used, and the rest works.
function gonePackages() {
  const isNested = Symbol('nested')
  return {
    name: 'gone-packages',
    setup(build) {
      build.onResolve({ filter: /^[@a-z]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
        if (pluginData === isNested) return
        const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: isNested })
        return found.errors.length === 0 ? found : { path, namespace: 'gone' }
      })
      build.onLoad({ filter: /./, namespace: 'gone' }, () => ({ contents: 'module.exports = {}' }))
    },
  }
}
