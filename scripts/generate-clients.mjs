// Writes the code of the clients and of the dashboard that follows from the operations of the API: `node scripts/generate-clients.mjs`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Writes the generated files of a checkout, which may be that of another commit. */
export async function generateClients(root) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['packages/client/generate/files.ts'],
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
  const { generatedFiles } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
  const files = generatedFiles(path => readFileSync(join(root, path), 'utf8'))
  for (const [path, text] of Object.entries(files)) write(join(root, path), text)
}

// Tests that run meanwhile may read it.
function write(file, text) {
  try {
    if (readFileSync(file, 'utf8') === text) return
  } catch {
    mkdirSync(dirname(file), { recursive: true })
  }
  writeFileSync(file, text)
}

const own = fileURLToPath(import.meta.url)
if (process.argv[1] && resolve(process.argv[1]) === own) await generateClients(resolve(own, '../..'))
