import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

/** A length of time. Its parts add up. */
export type Duration = { days?: number; hours?: number; minutes?: number; seconds?: number; milliseconds?: number }

/** The clock of the server. It runs like the clock of the machine until a test stops or moves it. */
export type TestClock = {
  now(): Promise<Date>
  /** Stops the clock at its present time. */
  freeze(): Promise<Date>
  /**
   * Moves the clock forward, from one due time to the next. Resolves when all calls on the way have been made and recorded, in
   * their order.
   */
  advance(by: Duration | { to: Date }): Promise<Date>
}

type Reading = { now: string; frozen: boolean }

/** @param onReading - Receives the time of the server after each move. */
export function openClock(
  url: string,
  onReading: (reading: { now: number; isFrozen: boolean }) => void,
): TestClock & { runUntilIdle(): Promise<Date> } {
  function dateOf({ now, frozen }: Reading): Date {
    const date = new Date(now)
    onReading({ now: date.getTime(), isFrozen: frozen })
    return date
  }

  async function move(action: string, body: object): Promise<Date> {
    const { status, text } = await post(`${url}/api/test/clock${action}`, JSON.stringify(body))
    if (status !== 200) throw new Error(`The clock did not move: ${text}`)
    return dateOf(JSON.parse(text) as Reading)
  }
  return {
    async now() {
      const response = await fetch(`${url}/api/test/clock`)
      return dateOf((await response.json()) as Reading)
    },
    freeze: () => move('/freeze', {}),
    advance: by => move('/advance', 'to' in by ? { to: by.to.toISOString() } : { by_ms: toMs(by) }),
    runUntilIdle: () => move('/run-until-idle', {}),
  }
}

// A move may take minutes, and `fetch` waits five minutes for a response.
async function post(url: string, body: string): Promise<{ status: number | undefined; text: string }> {
  const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = await response.toArray()
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() }
}

function toMs({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }: Duration): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds
}
