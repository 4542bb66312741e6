// Makes what is published: the library as one file for `import` and one for `require`, and the types for both.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const room = dirname(fileURLToPath(import.meta.url))
const dist = join(room, 'dist')

rmSync(dist, { recursive: true, force: true })
await bundle('esm', 'mjs')
await bundle('cjs', 'cjs')
writeTypes()
cpSync(join(room, '../../LICENSE'), join(room, 'LICENSE'))

async function bundle(format, extension) {
  await build({
    absWorkingDir: room,
    entryPoints: ['src/index.ts'],
    outfile: `dist/index.${extension}`,
    bundle: true,
    format,
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'error',
  })
}

// The compiler writes one set of declarations, which name each other by their sources.
function writeTypes() {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: room,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
  const written = join(dist, 'types')
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
