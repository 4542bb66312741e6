import { setTimeout as sleep } from 'node:timers/promises'
import { createWaker, type Waker } from './waker.ts'

/** A chore that is repeated while a process lives. */
export type Loop = {
  /** The pause after a run. */
  intervalMs: number
  /** While runs resolve with 0, because there was nothing to do, the pause doubles up to this. Default: it stays the same. */
  maxIntervalMs?: number
  /** Ends a pause that has become longer than `intervalMs`. */
  waker?: Waker
  run(signal: AbortSignal): Promise<unknown>
  onError(error: unknown): void
}

/** Runs a chore again and again, never twice at once; ends after the run in hand when the signal is aborted. */
export async function every(loop: Loop, signal: AbortSignal): Promise<void> {
  const { intervalMs, maxIntervalMs = intervalMs, waker = createWaker() } = loop
  for (let pauseMs = intervalMs; !signal.aborted; ) {
    const found = await loop.run(signal).catch(loop.onError)
    pauseMs = found === 0 ? Math.min(pauseMs * 2, maxIntervalMs) : intervalMs
    await sleep(intervalMs, undefined, { signal }).catch(() => {}) // an aborted sleep is the end of the loop
    if (await waker.pause(pauseMs - intervalMs, signal)) pauseMs = intervalMs
  }
}
