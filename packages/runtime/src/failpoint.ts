import { setTimeout as sleep } from 'node:timers/promises'

declare global {
  /** True in the builds of the fault tests. Everywhere else it is false, and the bundler drops what depends on it. */
  const __FAILPOINTS__: boolean
}

const passed = new Map<string, number>()

/**
 * Makes a process fail at this moment if the fault tests ask for it. Each call stands behind `if (__FAILPOINTS__)`.
 *
 * The environment variable `FAILPOINTS` lists what happens where: `name=kill`, `name=throw`, `name=sleep(ms)` or
 * `name=block(ms)`. With `#n` behind it, an entry applies to the n-th passing only. `name=kill(ms)` kills the process
 * after so many milliseconds, and the process continues until then: `dispatcher.request_sent=kill(50)` is a death with
 * the request in flight.
 */
export async function failpoint(name: string): Promise<void> {
  const count = (passed.get(name) ?? 0) + 1
  passed.set(name, count)
  // biome-ignore lint/style/noProcessEnv: not part of any product build
  for (const entry of (process.env.FAILPOINTS ?? '').split(',')) {
    const match = /^(?<at>[^=]+)=(?<what>[a-z]+)(?:\((?<ms>\d+)\))?(?:#(?<nth>\d+))?$/.exec(entry.trim())
    const { at, what, ms, nth } = match?.groups ?? {}
    if (at === name && (nth === undefined || Number(nth) === count)) await happen(name, what, Number(ms))
  }
}

async function happen(name: string, what: string | undefined, ms: number): Promise<void> {
  if (what === 'kill' && ms > 0) setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms)
  else if (what === 'kill') process.kill(process.pid, 'SIGKILL')
  if (what === 'throw') throw new Error(`Failpoint ${name}.`)
  if (what === 'sleep') await sleep(ms)
  if (what === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
