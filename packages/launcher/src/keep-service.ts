import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from './config.ts'
import { followLog, openLog } from './follow-log.ts'
import { readableLine } from './log-line.ts'
import type { Opened } from './open-stack.ts'
import { PlainError } from './plain-error.ts'
import { runService } from './service-process.ts'
import { say } from './terminal.ts'

export type ServiceOptions = {
  /** Sends 'ready' once it is ready, and stops cleanly on SIGTERM. */
  program: string
  env: Environment
  logFile: string
  /** Called with the pid of every process of the service. */
  onProcess: (pid: number) => void
}

export type Service = Opened & {
  /** Resolves when it is ready for the first time; rejects when it fails to start. */
  ready: Promise<void>
}

const readyTimeoutMs = 90_000
const minPauseMs = 500
const maxPauseMs = 30_000
const healthyAfterMs = 60_000

/** Starts a service and keeps it running: when it ends by itself, it is restarted after a growing pause. */
export function keepService({ program, env, logFile, onProcess }: ServiceOptions): Service {
  const stopping = new AbortController()
  openLog(logFile)
  const log = followLog(logFile, line => {
    const readable = readableLine(line)
    if (readable) say(readable)
  })
  let current = start()

  function start() {
    const service = runService(program, env, logFile)
    onProcess(service.pid)
    return service
  }

  async function becomeReady(): Promise<void> {
    const late = sleep(readyTimeoutMs, false, { ref: false })
    if (await Promise.race([current.ready, late])) return void keep()
    if (stopping.signal.aborted) return
    log.catchUp()
    throw new PlainError(`Belfry did not start. Its log is ${logFile}`)
  }

  async function keep(): Promise<void> {
    for (let pauseMs = 0; ; ) {
      const startedAt = performance.now()
      const reason = await current.ended
      if (stopping.signal.aborted) return
      // An orderly end is a restart that was requested with SIGTERM, as npm run dev does after each change.
      pauseMs = restartPauseMs(reason === 'code 0' ? 0 : pauseMs, performance.now() - startedAt)
      say(`Belfry ended (${reason}); restarting it in ${pauseMs / 1000} s.`)
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {}) // stopped while waiting
      if (stopping.signal.aborted) return
      current = start()
    }
  }

  async function end(): Promise<void> {
    stopping.abort()
    await current.stop()
    log.close()
  }

  let ended: Promise<void> | undefined
  return {
    ready: becomeReady(),
    stop() {
      ended ??= end()
      return ended
    },
    kill() {
      stopping.abort()
      current.kill()
    },
  }
}

/** Returns the pause before a restart. It grows each time, unless the service had run for a minute. */
export function restartPauseMs(lastPauseMs: number, livedMs: number): number {
  if (livedMs >= healthyAfterMs) return minPauseMs
  return Math.min(Math.max(lastPauseMs * 2, minPauseMs), maxPauseMs)
}
