import { setTimeout as sleep } from 'node:timers/promises'

declare const __FAILPOINTS__: boolean | undefined

const passed = new Map<string, number>()

/**
 * Marks a moment at which tests of a special build make a process fail. In every other build this does nothing: the
 * bundler leaves the rest out.
 *
 * The environment variable `FAILPOINTS` lists what happens where: `name=kill`, `name=throw`, `name=sleep(ms)` or
 * `name=block(ms)`, each with `#n` behind it to happen only at the n-th passing. `name=kill(ms)` kills that much later and
 * goes on until then: `dispatcher.request_sent=kill(50)` is a death with the request on its way.
 */
export function failpoint(name: string): Promise<void> | undefined {
  return typeof __FAILPOINTS__ === 'undefined' || !__FAILPOINTS__ ? undefined : pass(name)
}

async function pass(name: string): Promise<void> {
  const count = (passed.get(name) ?? 0) + 1
  passed.set(name, count)
  // biome-ignore lint/style/noProcessEnv: part of no product build
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
