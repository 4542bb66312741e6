import { fork } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from './config.ts'

export type ServiceProcess = {
  pid: number
  /** Resolves with true once it is ready, and with false when it ended before. */
  ready: Promise<boolean>
  /** Resolves with how it ended. */
  ended: Promise<string>
  /** Lets it finish the work in flight, within 35 s. */
  stop(): Promise<void>
  kill(): void
}

const stopTimeoutMs = 35_000

/**
 * Runs a service in its own process group, so Ctrl-C only reaches the launcher. It logs to a file instead of a pipe, so it
 * never waits for the launcher to read.
 */
export function runService(program: string, env: Environment, logFile: string): ServiceProcess {
  const log = openSync(logFile, 'a', 0o600)
  const child = fork(program, { env, execArgv: [], detached: true, stdio: ['ignore', log, log, 'ipc'] })
  closeSync(log)
  const ended = new Promise<string>(resolve => {
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`))
    child.once('error', error => resolve(error.message))
  })
  const saidReady = new Promise<boolean>(resolve => {
    child.on('message', message => {
      if (message === 'ready') resolve(true)
    })
  })
  return {
    pid: child.pid ?? 0,
    ready: Promise.race([saidReady, ended.then(() => false)]),
    ended,
    async stop() {
      child.kill('SIGTERM')
      await Promise.race([ended, sleep(stopTimeoutMs, undefined, { ref: false })])
      child.kill('SIGKILL')
      await ended
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
