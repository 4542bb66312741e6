// Builds the published package: the library as one file for `import` and one for `require`, and the types for both. Node has
// its own two files, which import `crypto`: in Node 18 it is not a global.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = dirname(fileURLToPath(import.meta.url))
const dist = join(folder, 'dist')

// Only pnpm applies `publishConfig`: with npm, the package would point to sources that it does not contain.
if (process.env.npm_command === 'publish' && !process.env.npm_config_user_agent?.startsWith('pnpm')) {
  console.error('Publish with `pnpm publish`.')
  process.exit(1)
}

rmSync(dist, { recursive: true, force: true })
const fromNode = {
  define: { 'globalThis.crypto': 'nodeCrypto' },
  inject: ['node-crypto.mjs'],
  external: ['node:crypto'],
}
// A page or a worker must not find a key by accident.
const withoutEnvironment = { define: { 'globalThis.process': 'undefined' } }

for (const [format, extension] of [
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
]) {
  await bundle(`index.${extension}`, { format, ...withoutEnvironment })
  await bundle(`node.${extension}`, { format, ...fromNode })
}
writeTypes()
cpSync(join(folder, '../../LICENSE'), join(folder, 'LICENSE'))

async function bundle(file, options) {
  await build({
    absWorkingDir: folder,
    entryPoints: ['src/index.ts'],
    outfile: `dist/${file}`,
    bundle: true,
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'error',
    ...options,
  })
}

// The compiler writes one set of declarations, which import each other with the extension of the sources.
function writeTypes() {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
  const written = join(dist, 'declarations')
  for (const name of readdirSync(written, { recursive: true }).filter(file => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(written, name), 'utf8')
    for (const extension of ['mjs', 'cjs']) {
      const target = join(dist, name.replace(/\.d\.ts$/, `.d.${extension.replace('js', 'ts')}`))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, text.replace(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, `$1.${extension}$2`))
    }
  }
  rmSync(written, { recursive: true })
}
