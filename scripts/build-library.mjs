// Builds a published library of packages/: bundles of src/index.ts for `import` and `require`, and the types for both.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/**
 * Builds the library of a package into `dist`.
 * @param bundles - The name of each file, and its options of esbuild.
 * @param sources - The folder of its sources in the declarations that the compiler writes.
 */
export async function buildLibrary(folder, bundles, sources = '.') {
  // Only pnpm applies `publishConfig`: with npm, the package would point to sources that it does not contain.
  if (process.env.npm_command === 'publish' && !process.env.npm_config_user_agent?.startsWith('pnpm')) {
    console.error('Publish with `pnpm publish`.')
    process.exit(1)
  }
  for (const { file, ...options } of bundles) {
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
  writeTypes(folder, sources)
  cpSync(join(import.meta.dirname, '../LICENSE'), join(folder, 'LICENSE'))
}

// The compiler writes one set of declarations, which import each other with the extension of the sources.
function writeTypes(folder, sources) {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const args = [compiler, '-p', 'tsconfig.build.json']
  const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
  const written = join(folder, 'dist/declarations', sources)
  for (const name of readdirSync(written, { recursive: true }).filter(file => file.endsWith('.d.ts'))) {
    const text = readFileSync(join(written, name), 'utf8')
    for (const extension of ['mjs', 'cjs']) {
      const target = join(folder, 'dist', name.replace(/\.d\.ts$/, `.d.${extension.replace('js', 'ts')}`))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, text.replace(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, `$1.${extension}$2`))
    }
  }
  rmSync(join(folder, 'dist/declarations'), { recursive: true })
}
