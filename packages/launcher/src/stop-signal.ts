import { parentProcess } from '@belfry/embedded'
import type { Environment } from './config.ts'

// npm passes on a Ctrl-C that the terminal has sent to this process too, so one key arrives as two signals.
const echoMs = 500
const ancestorsCheckMs = 1000

/** Aborts when the launcher is told to end; a second signal, later, kills at once. */
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
  if (env.npm_lifecycle_event === 'start') abortWithNpm(stop)
  return stop.signal
}

// npm starts us through a shell, which on Linux stays between. When npm is killed, the shell goes too or stays, and tells
// us nothing either way.
function abortWithNpm(stop: AbortController): void {
  const ancestors = () => `${process.ppid} ${parentProcess(process.ppid)}`
  const first = ancestors()
  setInterval(() => ancestors() === first || stop.abort(), ancestorsCheckMs).unref()
}
