import type { Environment } from './config.ts'

// npm passes on a Ctrl-C that the terminal has sent to this process too, so one key arrives as two signals.
const echoMs = 500
const parentCheckMs = 250

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
  if (env.npm_lifecycle_event === 'start') abortWithParent(stop)
  return stop.signal
}

// npm starts us through a shell. A signal to npm ends the shell, which tells nobody.
function abortWithParent(stop: AbortController): void {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || stop.abort(), parentCheckMs).unref()
}
