import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from '../repository-root.ts'
import type { Image } from './read-dockerfile.ts'

/** The file trees of the images in one folder. */
export type ImageTrees = { folder: string; of(image: string): string; remove(): void }

/** A process that runs like a container of an image. */
export type Container = {
  readonly output: string
  /** Resolves when the service is ready; rejects when it ends instead. */
  ready: Promise<void>
  ended: Promise<number | string>
  stop(): Promise<number | string>
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
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
    return spawn(path, args, { cwd: tree, env: { ...image.env, ...env }, stdio: [...stdio], ...user })
  }
  const child = start([...image.command, ...more])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  const ended = exitOf(child)
  const container: Container = {
    get output() {
      return output
    },
    ready: Promise.race([
      new Promise<void>(resolve => child.once('message', () => resolve())),
      ended.then(code => {
        throw new Error(`The ${image.name} ended with ${code} instead of serving:\n${output}`)
      }),
    ]),
    ended,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
    checkHealth: async () => Number(await exitOf(start(image.healthCheck ?? []))),
  }
  container.ready.catch(() => {}) // a program that runs to its end is never ready
  return container
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

async function exitOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = await once(child, 'exit')
  return code ?? signal
}
