const realNow = Date.now
const RealDate = Date

let shiftMs = 0
let frozenAt: number | null = null
let advancedMs = 0

/**
 * Returns milliseconds of a clock that never goes back, for caches, limits and circuit breakers. It follows the moves of the
 * virtual clock in the build for tests, and is `performance.now()` in all others.
 */
export function steadyTime(): number {
  return __VIRTUAL_CLOCK__ ? performance.now() + advancedMs : performance.now()
}

/** Returns the time of the virtual clock in epoch milliseconds. */
function virtualNow(): number {
  return Math.floor(frozenAt ?? realNow() + shiftMs)
}

/** Sets the virtual clock of this process. `frozenAt`: null while the clock runs. */
export function setVirtualTime(time: { frozenAt: number | null; shiftMs: number }): void {
  const before = virtualNow()
  frozenAt = time.frozenAt
  shiftMs = time.shiftMs
  advancedMs += Math.max(0, virtualNow() - before)
}

/** Makes `Date` show the virtual clock, for this code and all libraries. */
export function installVirtualDate(): void {
  // biome-ignore lint/style/noRestrictedGlobals: it replaces one, and calls nothing outside
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [virtualNow()] : args, newTarget),
    apply: () => new RealDate(virtualNow()).toString(),
    get: (target, name, receiver) => (name === 'now' ? virtualNow : Reflect.get(target, name, receiver)),
  })
}

/** Returns the time of the machine in epoch milliseconds. */
export function machineTime(): number {
  return realNow()
}
