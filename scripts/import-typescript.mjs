import { join } from 'node:path'
import { build } from 'esbuild'

/** Imports a module in TypeScript that may use the contract. `root` is the checkout, which may be that of another commit. */
export async function importTypeScript(root, entry) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    // `npm start` installs no development dependencies, and another commit has its own contract.
    alias: Object.fromEntries(
      ['contract', 'domain'].map(name => [`@belfry/${name}`, join(root, 'packages', name, 'src')]),
    ),
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'error',
  })
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
}
