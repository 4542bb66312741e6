import { setTimeout as sleep } from 'node:timers/promises'

/** A chore that is repeated while a process lives. */
export type Loop = {
  intervalMs: number
  run(signal: AbortSignal): Promise<unknown>
  onError(error: unknown): void
}

/** Runs a chore again and again, never twice at once; ends after the run in hand when the signal is aborted. */
export async function every(loop: Loop, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await loop.run(signal).catch(loop.onError)
    await sleep(loop.intervalMs, undefined, { signal }).catch(() => {}) // an aborted sleep is the end of the loop
  }
}
