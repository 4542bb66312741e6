import { toCamel } from './case.ts'
import { ApiError, ConnectionError } from './errors.ts'
import type { Http } from './http.ts'
import type { TailOptions } from './options.ts'
import { readEvents } from './server-sent-events.ts'
import { pause, startTimeLimit } from './time-limit.ts'
import type { Id, Run } from './types/index.ts'

// The server sends a comment every 15 seconds.
const silenceMs = 45_000
const firstWaitMs = 2_000
const maxWaitMs = 30_000
// More than the server repeats after a reconnection.
const maxKnown = 2_000

/** Yields new runs as they are recorded. Reconnects when the connection breaks, and resumes where it was. */
export async function* tailRuns(http: Http, path: string, options: TailOptions = {}): AsyncGenerator<Run> {
  const { signal } = options
  const known = new Set<Id>()
  let place = options.after
  let waitMs = firstWaitMs
  let failures = 0
  for (let isFirst = true; ; isFirst = false) {
    // A signal for each connection, so listeners do not accumulate on the caller's signal.
    const line = startTimeLimit(Number.POSITIVE_INFINITY, signal)
    try {
      const answer = await listen(line.signal, isFirst)
      const stream = answer?.body && readEvents(answer.body, silenceMs)
      for await (const { name, data } of stream?.events ?? []) {
        if (name === 'omitted') options.onOmitted?.((JSON.parse(data) as { count: number }).count)
        if (name !== '' && name !== 'run') continue
        const run = toCamel(JSON.parse(data)) as Run // as in the API reference
        if (known.has(run.id)) continue
        remember(known, run.id)
        yield run
      }
      if (stream) failures = 0
      place = stream?.lastId() || place
      waitMs = stream?.retryMs() ?? waitMs
    } finally {
      line.clear()
    }
    await pause(Math.min(waitMs * 2 ** failures++, maxWaitMs), signal)
  }

  async function listen(signal: AbortSignal, isFirst: boolean): Promise<Response | undefined> {
    const headers = { Accept: 'text/event-stream', ...(place ? { 'Last-Event-ID': place } : {}) }
    try {
      return await http.open({ method: 'GET', path, headers, options: { ...options, signal } })
    } catch (error) {
      // An error of the first connection is thrown. After that, the tail waits until the server is back.
      if (!isFirst && isPassing(error)) return undefined
      throw error
    }
  }
}

function isPassing(error: unknown): boolean {
  return (
    error instanceof ConnectionError || (error instanceof ApiError && (error.status === 429 || error.status >= 500))
  )
}

function remember(known: Set<Id>, id: Id): void {
  known.add(id)
  const [oldest] = known
  if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
}
