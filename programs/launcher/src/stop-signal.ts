import { parentProcess } from '@belfry/embedded'
import type { Environment } from './config.ts'

// Both npm and the terminal send a Ctrl-C to this process, so one key press arrives as two signals.
const echoMs = 500
const ancestorsCheckMs = 1000

/**
 * Returns a signal that aborts on the first stop signal, or when a parent with a channel sends `stop` or ends: on Windows no process can send
 * Ctrl-C to another one. A later second signal kills everything at once.
 */
export function listenForStop(env: Environment, kill: () => void): AbortSignal {
  const stop = new AbortController()
  let firstAt = 0
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!stop.signal.aborted) {
        firstAt = performance.now()
        stop.abort()
      } else if (performance.now() - firstAt > echoMs) {
        kill()
        process.exit(1)
      }
    })
  }
  process.once('disconnect', () => stop.abort())
  process.on('message', message => message === 'stop' && stop.abort())
  process.channel?.unref() // it does not keep this process running
  if (env.npm_lifecycle_event === 'start') abortWithNpm(stop)
  return stop.signal
}

// npm starts the launcher through a shell. On Linux the shell remains its parent. When npm is killed, the shell may end or not,
// but never notifies the launcher.
function abortWithNpm(stop: AbortController): void {
  const ancestors = () => `${process.ppid} ${parentProcess(process.ppid)}`
  const first = ancestors()
  setInterval(() => ancestors() === first || stop.abort(), ancestorsCheckMs).unref()
}
