import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { waitFor } from '../wait-for.ts'
import { endWithThisProcess } from './end-with-this-process.ts'

export type ProcessOptions = {
  /** Its variables. Default: only PATH, which it has in any case. */
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
  uid?: number
  gid?: number
  /** What it reads. Default: nothing. */
  input?: string
  /** Whether it has a channel for messages. */
  hasChannel?: boolean
  /** Whether it gets its own process group, all of which `stop` signals. */
  hasGroup?: boolean
  /** The file of its output. Default: this process keeps it. */
  logFile?: string
}

export type RunningProcess = {
  pid: number
  channel: ChildProcess
  /** What it has printed so far, on both streams and on each. */
  readonly output: string
  readonly out: string
  readonly error: string
  /** Waits until it has printed this; rejects with its output when it ends before, or the time is up. */
  prints(text: string | RegExp, timeoutMs?: number): Promise<void>
  /** Resolves with its first message; rejects with its output when it ends before. */
  ready: Promise<unknown>
  isRunning(): boolean
  /** Sends a signal and resolves as `ended` does. A frozen process acts only on SIGKILL. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
  /** Resolves with the exit code, or with the name of the signal that ended it. */
  ended: Promise<number | string>
  /** Resolves when it has ended and all of its output was read. */
  result: Promise<ProcessResult>
}

/** The code is null after a signal. */
export type ProcessResult = { code: number | null; out: string; error: string }

/** Starts a program, which ends with this process at the latest. */
export function startProcess(command: readonly [string, ...string[]], options: ProcessOptions = {}): RunningProcess {
  const { logFile, hasGroup = false } = options
  const child = spawnProgram(command, options)
  const printed = { all: '', out: '', error: '' }
  const collect = (name: 'out' | 'error') => (text: string) => {
    printed.all += text
    printed[name] += text
  }
  child.stdout?.setEncoding('utf8').on('data', collect('out'))
  child.stderr?.setEncoding('utf8').on('data', collect('error'))
  let isRead = false
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? '')).once('error', reject)
  })
  const result = new Promise<ProcessResult>((resolve, reject) => {
    child.once('close', code => resolve({ code, out: printed.out, error: printed.error })).once('error', reject)
  }).finally(() => {
    isRead = true
  })
  if (child.pid !== undefined) endWithThisProcess(child.pid, ended)
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null
  const output = () => (logFile === undefined ? printed.all : readFileSync(logFile, 'utf8'))
  const fail = (what: string) => new Error(`${command.join(' ')} ${what}:\n${output().slice(-10_000)}`)
  const ready = Promise.race([
    new Promise<unknown>(resolve => child.once('message', resolve)),
    result.then(async () => {
      throw fail(`ended with ${await ended} instead of starting`)
    }),
  ])
  // Not everyone who starts a program waits for it.
  for (const promise of [ended, result, ready]) promise.catch(() => {})
  return {
    pid: child.pid ?? 0,
    channel: child,
    get output() {
      return output()
    },
    get out() {
      return printed.out
    },
    get error() {
      return printed.error
    },
    async prints(text, timeoutMs = 50_000) {
      const hasPrinted = () => (typeof text === 'string' ? output().includes(text) : text.test(output()))
      await waitFor(async () => isRead || hasPrinted(), Boolean, timeoutMs).catch(() => {}) // told with its output below
      if (!hasPrinted()) throw fail(`${isRead ? 'ended without printing' : 'has not printed'} ${text}`)
    },
    ready,
    isRunning,
    stop(signal = 'SIGTERM') {
      if (isRunning()) process.kill(hasGroup ? -Number(child.pid) : Number(child.pid), signal)
      return ended
    },
    ended,
    result,
  }
}

function spawnProgram([program, ...args]: readonly [string, ...string[]], options: ProcessOptions): ChildProcess {
  const { env, cwd, uid, gid, input, hasChannel = false, hasGroup = false, logFile } = options
  const log = logFile === undefined ? 'pipe' : openSync(logFile, 'a')
  const stdio: StdioOptions = [
    input === undefined ? 'ignore' : 'pipe',
    log,
    log,
    ...(hasChannel ? ['ipc' as const] : []),
  ]
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio,
    detached: hasGroup,
    ...(cwd !== undefined && { cwd }),
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  })
  if (typeof log === 'number') closeSync(log)
  child.stdin?.end(input)
  return child
}
