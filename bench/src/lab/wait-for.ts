import { setTimeout as sleep } from 'node:timers/promises'

/** Asks again and again until the answer is yes. */
export async function waitFor(what: string, ask: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  while (!(await ask())) {
    if (performance.now() > giveUpAt) throw new Error(`Not within ${timeoutMs} ms: ${what}.`)
    await sleep(20)
  }
}
