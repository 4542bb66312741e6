/** A length of time. Its parts add up. */
export type Duration = { days?: number; hours?: number; minutes?: number; seconds?: number; milliseconds?: number }

/** The clock of the server. It runs like that of the machine until a test stops or moves it. */
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
    const response = await fetch(`${url}/api/test/clock${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`The clock did not move: ${await response.text()}`)
    return dateOf((await response.json()) as Reading)
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

function toMs({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }: Duration): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + milliseconds
}
