import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'
import type { Block } from './read-pages.ts'

const root = repositoryRoot()
const compiler = join(createRequire(join(root, 'package.json')).resolve('typescript/package.json'), '../bin/tsc')

/** Returns the module name of a block, such as `docs-client-36`. */
export function moduleName({ page, line }: Block): string {
  return `${page.replace(/\.md$/, '').replaceAll('/', '-')}-${line}`
}

/** Type-checks blocks against the installed client, as a project of a reader would. Returns the compiler errors. */
export async function checkTypes(folder: string, blocks: readonly Block[]): Promise<string> {
  await Promise.all(blocks.map(block => writeFile(join(folder, 'blocks', `${moduleName(block)}.ts`), block.text)))
  const constants = join(root, 'packages/runtime/src/virtual-clock/virtual-clock.ts')
  const files = [constants, ...blocks.map(block => `blocks/${moduleName(block)}.ts`)]
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    moduleDetection: 'force',
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
    // The test kit is not packed for this: that takes its whole server.
    paths: { '@belfry/testing': [join(root, 'packages/testing/src/index.ts')] },
    allowImportingTsExtensions: true,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return complaintsOf(folder)
}

function complaintsOf(folder: string): Promise<string> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { cwd: folder })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', piece => {
        text += piece
      })
    }
    child.once('close', code => resolve(code === 0 ? '' : text || `tsc ended with ${code}`))
  })
}
