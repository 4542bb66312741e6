import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from '../repository-root.ts'
import type { Image } from './read-dockerfile.ts'

/** The file trees of the images, below one folder. */
export type ImageTrees = { folder: string; of(image: string): string; remove(): void }

/** A process that runs as an image's container would. */
export type Container = {
  readonly output: string
  /** Resolves when the service says that it serves; rejects when it ends instead. */
  ready: Promise<void>
  ended: Promise<number | string>
  stop(): Promise<number | string>
  /** Runs the image's health check beside it and answers with its exit code. */
  checkHealth(): Promise<number>
}

const isRoot = process.getuid?.() === 0
// What the Dockerfile says; somebody else than root stays who they are.
const user = isRoot ? { uid: 1000, gid: 1000 } : {}

/** Makes the trees with the program that the Dockerfile makes them with, where every user can read them. */
export async function assembleImages(): Promise<ImageTrees> {
  // The run's own temporary folder is closed to the user that the images run as.
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

/** Starts an image's command in its tree, as a user who is not root, with nothing of this process's environment. */
export function runImage(image: Image, tree: string, env: Record<string, string>, more: string[] = []): Container {
  const start = (command: string[]) => {
    const [program = '', ...args] = command
    if (program !== 'node') throw new Error(`The image ${image.name} starts ${program}.`)
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
    return spawn(process.execPath, args, { cwd: tree, env: { ...image.env, ...env }, stdio: [...stdio], ...user })
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
  container.ready.catch(() => {}) // of a program that runs to its end nobody waits for this
  return container
}

/** A digest of every name, mode and content below a folder. */
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
