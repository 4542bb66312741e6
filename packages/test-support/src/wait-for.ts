import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until a value satisfies a condition, and returns it. Rejects with the last value when the time is up. */
export async function waitFor<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  timeoutMs = 15_000,
): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (satisfies(answer)) return answer
    if (performance.now() > giveUpAt) throw new Error(`Not within ${timeoutMs} ms. Last: ${JSON.stringify(answer)}`)
    await sleep(25)
  }
}
