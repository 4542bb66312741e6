import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { repositoryRoot } from '../../../repository-root.ts'

/** The folder of the patches. */
export const patches = join(repositoryRoot(), 'e2e/faults/torture/planted')

/** A copy of the repository, in which a defect can be planted. */
export type PlantedTree = {
  folder: string
  /** Plants a defect, and returns the function that takes it out again. */
  plant(id: string): () => void
  remove(): void
}

// Packages of others stay where they are, and each run builds its programs.
const leftOut = /^(\.git|node_modules\/\.pnpm)$|(^|\/)(dist|\.turbo|\.cache|screenshots)$/

export function copyTree(): PlantedTree {
  const root = repositoryRoot()
  const folder = mkdtempSync(join(tmpdir(), 'belfry-planted-'))
  const filter = (path: string) => !leftOut.test(relative(root, path))
  cpSync(root, folder, { recursive: true, verbatimSymlinks: true, filter })
  symlinkSync(join(root, 'node_modules/.pnpm'), join(folder, 'node_modules/.pnpm'))
  const apply = (id: string, ...options: string[]) =>
    execFileSync('git', ['apply', ...options, join(patches, `${id}.patch`)], { cwd: folder })
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)
  return {
    folder,
    plant(id) {
      apply(id)
      return () => apply(id, '--reverse')
    },
    remove,
  }
}

/** Returns what a planted defect breaks: the first line of its patch. */
export function describePatch(file: string): string {
  const [line = ''] = readFileSync(join(patches, basename(file)), 'utf8').split('\n')
  return line
}
