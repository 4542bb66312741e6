// Builds the programs that `startBelfry` runs: the services with the virtual clock, and what starts and lends them. With
// `--package` also the published package: the library for `import` and `require`, its types, and the programs at the paths that
// they have in the checkout.
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyTree } from './assemble.mjs'
import { buildLibrary } from './build-library.mjs'
import { bundlePackage } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'packages/testing')
const define = { __FAILPOINTS__: 'false', __VIRTUAL_CLOCK__: 'true' }

await Promise.all([
  bundlePackage('programs/all-in-one', { define }, 'testing'),
  bundlePackage('packages/testing', { entryPoints: [{ in: 'src/server/main.ts', out: 'server' }] }),
])
if (process.argv.includes('--package')) await fillPackage()

async function fillPackage() {
  // The tests have bundled it, and other tests run it.
  if (!process.argv.includes('--bundled')) await bundlePackage('prisma')
  const library = { platform: 'node', target: 'node20.19', external: ['@belfry/client'], define }
  const fileUrl = 'const fileUrl = require("node:url").pathToFileURL(__filename).href'
  const withFileUrl = { define: { ...define, 'import.meta.url': 'fileUrl' }, banner: { js: fileUrl } }
  // The compiler writes the declarations of the other packages too.
  await buildLibrary(
    folder,
    [
      { file: 'index.mjs', format: 'esm', ...library },
      { file: 'index.cjs', format: 'cjs', ...library, ...withFileUrl },
    ],
    'packages/testing/src',
  )
  rmSync(join(folder, 'server'), { recursive: true, force: true })
  for (const path of ['prisma/dist', 'prisma/migrations', 'prisma/sql', 'prisma/schema.prisma']) {
    copyTree(join(root, path), join(folder, 'server', path))
  }
  for (const path of ['programs/all-in-one/dist/testing.mjs', 'packages/testing/dist/server.mjs']) {
    for (const file of [path, `${path}.LEGAL.txt`].filter(name => existsSync(join(root, name)))) {
      cpSync(join(root, file), join(folder, 'server', file))
    }
  }
}
