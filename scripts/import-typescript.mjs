import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** Imports a module in TypeScript that may use the contract. `root` is the checkout, which may be that of another commit. */
export async function importTypeScript(root, entry) {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-module-'))
  const outfile = join(folder, 'module.mjs')
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    // `npm start` installs no development dependencies, and another commit has its own contract.
    alias: Object.fromEntries(
      ['contract', 'domain'].map(name => [`@belfry/${name}`, join(root, 'packages', name, 'src')]),
    ),
    bundle: true,
    outfile,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'error',
  })
  try {
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
