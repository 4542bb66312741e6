import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again and again until the answer satisfies; rejects with the last answer when the time is over. */
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

/** An instant as the API takes it. */
export function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}
