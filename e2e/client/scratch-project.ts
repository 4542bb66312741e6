import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitFor } from '@belfry/test-support/wait-for'
import { repositoryRoot } from '../repository-root.ts'

const run = promisify(execFile)
const folders = { client: 'packages/client', once: 'packages/once', cli: 'programs/cli' }

/** Packs a package as it is published, once for each run of the tests, and returns the path of the tarball. */
export async function pack(name: keyof typeof folders): Promise<string> {
  const tarball = join(tmpdir(), `belfry-${name}.tgz`)
  // The process that creates this folder packs: two builds in parallel would write the same files.
  const folder = join(tmpdir(), `belfry-pack-${name}`)
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  )
  if (!isFirst) {
    await waitFor(async () => existsSync(tarball), Boolean, 120_000)
    return tarball
  }
  const pnpm = join(repositoryRoot(), 'node_modules/.bin/pnpm')
  // The global setup has bundled the program already, and other tests run it.
  const options = name === 'cli' ? ['--config.ignore-scripts=true'] : []
  await run(pnpm, ['pack', '--pack-destination', folder, ...options], { cwd: join(repositoryRoot(), folders[name]) })
  const [file = ''] = await readdir(folder)
  await rename(join(folder, file), tarball)
  return tarball
}

export type ScratchProject = {
  folder: string
  /** Runs a program in it, and returns its output. */
  node(...args: string[]): Promise<string>
}

/** A project outside of this repository with packages of ours, installed from their tarballs. */
export async function scratchProject(
  tarballs: string | readonly string[],
  files: string | null,
  manifest: object = {},
): Promise<ScratchProject> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-project-'))
  await mkdir(folder, { recursive: true })
  if (files) await cp(join(import.meta.dirname, 'projects', files), folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'scratch', private: true, ...manifest }))
  // No package has a dependency from a registry.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...[tarballs].flat()], { cwd: folder })
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }
  return {
    folder,
    node: async (...args) => (await run(process.execPath, args, { cwd: folder, env })).stdout,
  }
}
