import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

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
  const log = openSync(logFile, 'a')
  const channel = fork(program, args, {
    env: { PATH: process.env.PATH, NODE_OPTIONS: heapOptions, ...env },
    execPath: node,
    execArgv: [...heapFlags, ...nodeFlags],
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const ended = once(channel, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
  const lastLog = () => readFileSync(logFile, 'utf8').slice(-2000)
  const ready = await Promise.race([
    once(channel, 'message').then(([message]) => message),
    ended.then(end => {
      throw new Error(`${program} ended with ${end} instead of starting:\n${lastLog()}`)
    }),
  ])
  return {
    pid: channel.pid ?? 0, // it has sent a message, so it has one
    channel,
    ready,
    async [Symbol.asyncDispose]() {
      channel.kill('SIGTERM')
      const end = await ended
      if (end !== 0 && end !== 'SIGTERM') throw new Error(`${program} ended with ${end}; see ${logFile}.`)
    },
  }
}
