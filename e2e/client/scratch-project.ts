import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from '../repository-root.ts'

const run = promisify(execFile)

/** Packs a package as it is published, and answers with the path of the tarball. */
export async function pack(name: 'client' | 'cli'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-pack-'))
  const pnpm = join(repositoryRoot(), 'node_modules/.bin/pnpm')
  // The program is bundled already, with the services, and other tests run it.
  const options = name === 'cli' ? ['--config.ignore-scripts=true'] : []
  await run(pnpm, ['pack', '--pack-destination', folder, ...options], { cwd: join(repositoryRoot(), 'packages', name) })
  const [file = ''] = await readdir(folder)
  return join(folder, file)
}

export type ScratchProject = {
  folder: string
  /** Runs a program in it, and answers with what it prints. */
  node(...args: string[]): Promise<string>
}

/** A project outside of this repository, with one of our packages installed from its tarball. */
export async function scratchProject(
  tarball: string,
  files: string | null,
  manifest: object = {},
): Promise<ScratchProject> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-project-'))
  await mkdir(folder, { recursive: true })
  if (files) await cp(join(import.meta.dirname, 'projects', files), folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'scratch', private: true, ...manifest }))
  // Neither needs anything from a registry.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder })
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }
  return {
    folder,
    node: async (...args) => (await run(process.execPath, args, { cwd: folder, env })).stdout,
  }
}
