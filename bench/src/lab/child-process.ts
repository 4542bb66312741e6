import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'

/** A process of ours that says over its channel when it is ready, and ends when the channel breaks. */
export type Child = {
  pid: number
  channel: ChildProcess
  /** What it said when it was ready. */
  ready: unknown
  /** Asks it to end; rejects when it does so with an error. */
  stop(): Promise<void>
}

// What the images set; every side gets it, the ones written by hand too.
const asInImages = {
  options: '--max-semi-space-size=32 --max-old-space-size=512',
  flags: ['--heap-growing-percent=100'],
}

/** Starts a program and waits until it is ready. What it writes goes to a file, as it would in production. */
export async function startChild(
  program: string,
  { args = [], env = {}, node = process.execPath, nodeFlags = [], logFile }: StartOptions,
): Promise<Child> {
  const log = openSync(logFile, 'a')
  const channel = fork(program, args, {
    env: { PATH: process.env.PATH, NODE_OPTIONS: asInImages.options, ...env },
    execPath: node,
    execArgv: [...asInImages.flags, ...nodeFlags],
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const ended = once(channel, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
  const ready = await Promise.race([
    once(channel, 'message').then(([message]) => message),
    ended.then(end => {
      throw new Error(
        `${program} ended with ${end} instead of starting:\n${readFileSync(logFile, 'utf8').slice(-2000)}`,
      )
    }),
  ])
  return {
    pid: channel.pid ?? 0, // it has spoken, so it has one
    channel,
    ready,
    async stop() {
      channel.kill('SIGTERM')
      const end = await ended
      if (end !== 0 && end !== 'SIGTERM') throw new Error(`${program} ended with ${end}; see ${logFile}.`)
    },
  }
}

export type StartOptions = {
  args?: string[]
  env?: Record<string, string>
  /** The Node that runs it. Default: that of this process. */
  node?: string | undefined
  nodeFlags?: string[]
  logFile: string
}
