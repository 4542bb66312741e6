import type { ChildProcess } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@belfry/test-support/servers'

/** The folder with the bundles of this package. */
export const programFolder = dirname(fileURLToPath(import.meta.url))
export const repositoryRoot = resolve(programFolder, '../..')

/**
 * A child process that reports over its channel when it is ready, and ends when the channel breaks. Its disposal asks it to
 * end, and rejects when it ends with an error.
 */
export type Child = AsyncDisposable & {
  pid: number
  channel: ChildProcess
  /** Its first message. */
  ready: unknown
}

export type StartOptions = {
  args?: string[]
  env?: Record<string, string>
  /** The Node that runs it. Default: that of this process. */
  node?: string | undefined
  nodeFlags?: string[]
  logFile: string
}

// As the images set them; every side gets the same, hand-written ones too.
const heapOptions = '--max-semi-space-size=32 --max-old-space-size=512'
const heapFlags = ['--heap-growing-percent=100']

/** Starts a program and waits until it is ready. Its output goes to a file, as in production. */
export async function startChild(
  program: string,
  { args = [], env = {}, node = process.execPath, nodeFlags = [], logFile }: StartOptions,
): Promise<Child> {
  const child = startProcess([node, ...heapFlags, ...nodeFlags, program, ...args], {
    env: { NODE_OPTIONS: heapOptions, ...env },
    hasChannel: true,
    logFile,
  })
  return {
    pid: child.pid,
    channel: child.channel,
    ready: await child.ready,
    async [Symbol.asyncDispose]() {
      const end = await child.stop()
      if (end !== 0 && end !== 'SIGTERM') throw new Error(`${program} ended with ${end}; see ${logFile}.`)
    },
  }
}
