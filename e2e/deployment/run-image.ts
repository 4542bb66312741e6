import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { repositoryRoot } from '../repository-root.ts'
import type { Image } from './read-dockerfile.ts'

/** The file trees of the images in one folder. */
export type ImageTrees = { folder: string; of(image: string): string; remove(): void }

/** A process that runs like a container of an image. It is ready when the service is. */
export type Container = Pick<RunningProcess, 'output' | 'ready' | 'ended' | 'stop'> & {
  /** Runs the health check of the image and returns its exit code. */
  checkHealth(): Promise<number>
}

const isRoot = process.getuid?.() === 0
// As in the Dockerfile. A user other than root cannot change to another user.
const user = isRoot ? { uid: 1000, gid: 1000 } : {}

/** Builds the trees with the program of the Dockerfile, in a folder that every user can read. */
export async function assembleImages(): Promise<ImageTrees> {
  // The user that the images run as cannot read the temporary folder of the run.
  const folder = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'belfry-images-'))
  chmodSync(folder, 0o755)
  await promisify(execFile)(process.execPath, [join(repositoryRoot(), 'scripts/assemble.mjs'), folder])
  return {
    folder,
    of: image => join(folder, image),
    remove() {
      if (!isRoot) spawnSync('chmod', ['-R', 'u+w', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts the command of an image in its tree, as a user other than root, with an empty environment. */
export function runImage(image: Image, tree: string, env: Record<string, string>, more: string[] = []): Container {
  const start = (command: string[]) => {
    // Only as the first process of a container it has orphans to reap.
    const [program = '', ...args] = command.slice(command[0] === 'tini' ? 2 : 0)
    const path = { node: process.execPath, bash: '/bin/bash' }[program]
    if (!path) throw new Error(`The image ${image.name} starts ${program}.`)
    const own = { PATH: undefined, ...image.env, ...env }
    return startProcess([path, ...args], { cwd: tree, env: own, hasChannel: true, ...user })
  }
  return Object.assign(start([...image.command, ...more]), {
    checkHealth: async () => Number(await start(image.healthCheck ?? []).ended),
  })
}

/** Returns a digest of all names, modes and contents below a folder. */
export function fingerprint(folder: string): string {
  const sum = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    const { mode } = statSync(path)
    sum.update(`${name} ${mode.toString(8)}\n`)
    if (statSync(path).isFile()) sum.update(readFileSync(path))
  }
  return sum.digest('hex')
}
