import { setTimeout as sleep } from 'node:timers/promises'
import { createWaker, type Waker } from './waker.ts'

export type Loop = {
  /** The pause after a run, in milliseconds. */
  intervalMs: number
  /** While runs resolve with 0, because there was nothing to do, the pause doubles up to this. Default: `intervalMs`. */
  maxIntervalMs?: number
  /** Ends a pause that is longer than `intervalMs`. */
  waker?: Waker
  run(signal: AbortSignal): Promise<unknown>
  onError(error: unknown): void
}

/** Repeats a chore, never twice at once, until the signal is aborted. Resolves after the current run. */
export async function every(loop: Loop, signal: AbortSignal): Promise<void> {
  const { intervalMs, maxIntervalMs = intervalMs, waker = createWaker() } = loop
  for (let pauseMs = intervalMs; !signal.aborted; ) {
    const found = await loop.run(signal).catch(loop.onError)
    pauseMs = found === 0 ? Math.min(pauseMs * 2, maxIntervalMs) : intervalMs
    let leftMs = intervalMs
    if (pauseMs > intervalMs) {
      const beganAt = performance.now()
      if (await waker.pause(pauseMs, signal)) pauseMs = intervalMs
      leftMs -= performance.now() - beganAt
    }
    if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => {}) // an aborted sleep ends the loop
    await waker.pause(0, signal) // what woke it meanwhile is seen by the next run
  }
}

// Longer than most chores take when there is no work.
const apartMs = 20

/**
 * Repeats chores as `every` does. They begin one after the other: all at once, they would open every connection of their pool,
 * and each is a process of PostgreSQL with some 3 MB.
 */
export function everyInTurn(loops: readonly Loop[], signal: AbortSignal): Promise<void>[] {
  return loops.map(async (loop, place) => {
    await sleep(place * apartMs, undefined, { signal }).catch(() => {}) // an aborted sleep ends the loop
    await every(loop, signal)
  })
}
