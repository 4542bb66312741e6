import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from './config.ts'
import { PlainError, reasonOf } from './errors.ts'
import { followLog, openLog } from './follow-log.ts'
import { readableLine } from './log-line.ts'
import { say } from './terminal.ts'

export type ServiceOptions = {
  /** Sends 'ready' once it is ready, and stops cleanly on SIGTERM. */
  program: string
  args?: readonly string[]
  /** Its name in messages. Default: Belfry. */
  title?: string
  env: Environment
  /** Null for the output of this process. */
  logFile: string | null
  /** Called with the pid of every process of the service. */
  onProcess: (pid: number) => void
}

const readyTimeoutMs = 90_000
const minPauseMs = 500
const maxPauseMs = 30_000
const healthyAfterMs = 60_000
const orderlyAfterMs = 2_000

/** Starts a service and keeps it running: when it ends by itself, it is restarted after a growing pause. */
export function keepService(options: ServiceOptions) {
  const { program, args = [], title = 'Belfry', env, logFile, onProcess } = options
  const stopping = new AbortController()
  const log = logFile === null ? null : follow(logFile)
  let current = start()

  function start() {
    const service = runService(program, env, logFile, args)
    try {
      onProcess(service.pid)
    } catch (error) {
      service.kill()
      throw error
    }
    return service
  }

  async function becomeReady(): Promise<void> {
    const late = sleep(readyTimeoutMs, false, { ref: false })
    if (await Promise.race([current.ready, late])) return void keep()
    if (stopping.signal.aborted) return
    log?.catchUp()
    throw new PlainError(`${title} did not start. ${logFile === null ? 'Its log is above.' : `Its log is ${logFile}`}`)
  }

  async function keep(): Promise<void> {
    for (let pauseMs = 0; ; ) {
      const startedAt = performance.now()
      const reason = await current.ended
      if (stopping.signal.aborted) return
      pauseMs = restartPauseMs(pauseMs, performance.now() - startedAt, reason === 'code 0')
      say(`${title} ended (${reason}); restarting it in ${pauseMs / 1000} s.`)
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {}) // stopped while waiting
      if (stopping.signal.aborted) return
      try {
        current = start()
      } catch (error) {
        say(`${title} cannot be restarted yet: ${reasonOf(error)}`)
      }
    }
  }

  async function end(): Promise<void> {
    stopping.abort()
    await current.stop()
    log?.close()
  }

  let ended: Promise<void> | undefined
  return {
    /** Resolves when it is ready for the first time; rejects when it fails to start. */
    ready: becomeReady(),
    stop() {
      ended ??= end()
      return ended
    },
    kill(): void {
      stopping.abort()
      current.kill()
    },
  }
}

function follow(logFile: string) {
  openLog(logFile)
  return followLog(logFile, line => {
    const readable = readableLine(line)
    if (readable) say(readable)
  })
}

/**
 * Returns the pause before a restart. It grows each time, unless the service had run for a minute. A few seconds are enough
 * before an orderly end: that is a restart which was requested with SIGTERM, as `npm run dev` does after each change.
 */
export function restartPauseMs(lastPauseMs: number, livedMs: number, isOrderly: boolean): number {
  if (livedMs >= (isOrderly ? orderlyAfterMs : healthyAfterMs)) return minPauseMs
  return Math.min(Math.max(lastPauseMs * 2, minPauseMs), maxPauseMs)
}

const stopTimeoutMs = 35_000

/**
 * Runs a service in its own process group, so Ctrl-C only reaches the launcher. It logs to a file instead of a pipe, so it
 * never waits for the launcher to read.
 */
export function runService(program: string, env: Environment, logFile: string | null, args: readonly string[] = []) {
  const log = logFile === null ? 'inherit' : openSync(logFile, 'a', 0o600)
  const execArgv = process.execArgv.filter(option => option.startsWith('--heap-')) // the image sets one
  const options = { env, execArgv, detached: true, windowsHide: true, stdio: ['ignore', log, log, 'ipc'] }
  const child = fork(program, [...args], options as ForkOptions) // passes all options of spawn on
  if (log !== 'inherit') closeSync(log)
  const ended = new Promise<string>(resolve => {
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`))
    child.once('error', error => resolve(error.message))
  })
  const saidReady = new Promise<boolean>(resolve => {
    child.on('message', message => message === 'ready' && resolve(true))
  })
  return {
    pid: child.pid ?? 0,
    /** Resolves with true once it is ready, and with false when it ended before. */
    ready: Promise.race([saidReady, ended.then(() => false)]),
    /** Resolves with how it ended. */
    ended,
    send: (message: object): void => void child.send(message),
    /** Lets it finish the work in flight, within 35 s. */
    async stop(): Promise<void> {
      askToStop(child)
      await Promise.race([ended, sleep(stopTimeoutMs, undefined, { ref: false })])
      child.kill('SIGKILL')
      await ended
    },
    kill: (): void => void child.kill('SIGKILL'),
  }
}

/** Asks a service to stop in an orderly way. Windows has no SIGTERM: there the service notices that its channel is closed. */
export function askToStop(child: ChildProcess, platform: NodeJS.Platform = process.platform): void {
  if (platform !== 'win32') child.kill('SIGTERM')
  else if (child.connected) child.disconnect()
}
