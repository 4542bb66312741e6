import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until a condition holds. Returns whether it did within the time. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 20,
): Promise<boolean> {
  const giveUpAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() >= giveUpAt) return false
    await sleep(intervalMs)
  }
  return true
}
