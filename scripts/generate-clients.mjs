// Writes the code of the clients and of the dashboard that follows from the operations of the API: `node scripts/generate-clients.mjs`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importTypeScript } from './import-typescript.mjs'
import { isProgram } from './is-program.mjs'

/** Writes the generated files of a checkout, which may be that of another commit. */
export async function generateClients(root) {
  const { generatedFiles } = await importTypeScript(root, 'packages/client/generate/files.ts')
  const files = generatedFiles(path => readFileSync(join(root, path), 'utf8'))
  for (const [path, text] of Object.entries(files)) write(join(root, path), text)
}

// A file that is up to date stays, because a test may read it now.
function write(file, text) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

if (isProgram(import.meta.url)) await generateClients(resolve(fileURLToPath(import.meta.url), '../..'))
