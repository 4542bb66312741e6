// Makes the pages of the site that follow from code, and that the repository therefore does not have.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { importTypeScript } from '../scripts/import-typescript.mjs'

/** The pages, each with the page of the repository that it follows in the navigation. */
export const generatedPages = [
  { page: 'client-reference.md', title: 'Client reference', about: 'every method and type', after: 'docs/client.md' },
  {
    page: 'api-examples.md',
    title: 'API examples',
    about: 'a request and a response of each operation',
    after: 'docs/api.md',
  },
]

/** Returns the texts of the pages by their names. */
export async function generatePages(root) {
  const [reference, examples] = await Promise.all(
    ['e2e/client/reference-page.ts', 'services/api/test/reference/examples-page.ts'].map(entry =>
      importTypeScript(root, entry),
    ),
  )
  const declarations = declareClient(root)
  try {
    return {
      'client-reference.md': reference.clientReference(file =>
        readFileSync(join(declarations, `${file}.d.ts`), 'utf8'),
      ),
      'api-examples.md': examples.examplesPage(),
    }
  } finally {
    rmSync(declarations, { recursive: true })
  }
}

function declareClient(root) {
  const compiler = join(
    dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json')),
    'bin/tsc',
  )
  const folder = mkdtempSync(join(tmpdir(), 'belfry-declarations-'))
  const project = join(root, 'packages/client/tsconfig.build.json')
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', folder], { stdio: 'inherit' })
  return folder
}
