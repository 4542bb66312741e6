// Builds the programs that `startBelfry` runs: the services with the virtual clock, and what starts and lends them. With
// `--package` also the published package: the library for `import` and `require`, its types, and the programs at the paths that
// they have in the checkout.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { copyTree } from './assemble.mjs'
import { bundlePackage } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'packages/testing')
const dist = join(folder, 'dist')
const define = { __FAILPOINTS__: 'false', __VIRTUAL_CLOCK__: 'true' }

await Promise.all([
  bundlePackage('programs/all-in-one', { define }, 'testing'),
  bundlePackage('packages/testing', { entryPoints: [{ in: 'src/server/main.ts', out: 'server' }] }),
])
if (process.argv.includes('--package')) await fillPackage()

async function fillPackage() {
  // The tests have bundled it, and other tests run it.
  if (!process.argv.includes('--bundled')) await bundlePackage('prisma')
  await bundleLibrary('index.mjs', { format: 'esm' })
  const fileUrl = 'const fileUrl = require("node:url").pathToFileURL(__filename).href'
  await bundleLibrary('index.cjs', {
    format: 'cjs',
    define: { ...define, 'import.meta.url': 'fileUrl' },
    banner: { js: fileUrl },
  })
  writeTypes()
  rmSync(join(folder, 'server'), { recursive: true, force: true })
  for (const path of ['prisma/dist', 'prisma/migrations', 'prisma/sql', 'prisma/schema.prisma']) {
    copyTree(join(root, path), join(folder, 'server', path))
  }
  for (const path of ['programs/all-in-one/dist/testing.mjs', 'packages/testing/dist/server.mjs']) {
    for (const file of [path, `${path}.LEGAL.txt`].filter(name => existsSync(join(root, name)))) {
      cpSync(join(root, file), join(folder, 'server', file))
    }
  }
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

async function bundleLibrary(file, options) {
  await build({
    absWorkingDir: folder,
    entryPoints: ['src/index.ts'],
    outfile: `dist/${file}`,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    external: ['@belfry/client'],
    logLevel: 'error',
    define,
    ...options,
  })
}

// The compiler writes the declarations of the other packages too.
function writeTypes() {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const args = [compiler, '-p', 'tsconfig.build.json']
  const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
  const written = join(dist, 'declarations/packages/testing/src')
  for (const name of readdirSync(written).filter(file => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(written, name), 'utf8')
    for (const extension of ['mjs', 'cjs']) {
      const target = join(dist, name.replace(/\.d\.ts$/, `.d.${extension.replace('js', 'ts')}`))
      writeFileSync(target, text.replace(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, `$1.${extension}$2`))
    }
  }
  rmSync(join(dist, 'declarations'), { recursive: true })
}
