import { setTimeout as sleep } from 'node:timers/promises'
import type { Receiver } from '@belfry/test-support'
import { type Caller, callApi, inMs } from '../api-calls.ts'

/** Creates tasks continuously. Repeats a call without an answer with the same idempotency key, as a client does. */
export type SteadyPosts = {
  /** The paths of the accepted tasks. */
  readonly accepted: readonly string[]
  /** The statuses of the answers after which a call was repeated. */
  readonly repeated: ReadonlyArray<number | 'broken'>
  /** Starts no further call, and resolves when all calls in flight have been answered; rejects with the refusals. */
  stop(): Promise<void>
}

const path = '/api/v1/scheduler/tasks'
const everyMs = 40
const patienceMs = 60_000
// A busy machine answers fewer in parallel. With more, the calls would be queued until their tasks are past due.
const maxInFlight = 20

/** Starts creating tasks that are due in `aheadMs`. Each create has five seconds for its answer. */
export function startSteadyPosts(
  url: string,
  caller: Caller,
  target: Receiver,
  aheadMs: number,
  name = 'task',
): SteadyPosts {
  const accepted: string[] = []
  const inFlight = new Set<Promise<void>>()
  const stop = new AbortController()
  const refused: unknown[] = []
  const repeated: Array<number | 'broken'> = []

  async function post(task: string): Promise<void> {
    const body = {
      name: task,
      url: target.url(`/${task}`),
      method: 'POST',
      execute_at: inMs(aheadMs),
      timeout_ms: 5_000,
      retry: { max_retries: 5, backoff: 'fixed', base_delay_ms: 1_000 },
    }
    const giveUpAt = performance.now() + patienceMs
    for (;;) {
      const answer = await callApi(url, { ...caller, idempotencyKey: task }, 'POST', path, body).catch(() => null)
      if (answer?.status === 201) return void accepted.push(`/${task}`)
      // Nothing was stored, and the due time has passed.
      if (answer?.body?.errors?.[0]?.code === 'execute_at_not_future') return
      if (answer !== null && answer.status < 500 && answer.status !== 409) throw new Error(answer.text)
      if (performance.now() > giveUpAt) throw new Error(`No answer to ${task}. Last: ${answer?.text}`)
      repeated.push(answer?.status ?? 'broken')
      await sleep(200)
    }
  }

  async function run(): Promise<void> {
    for (let i = 0; !stop.signal.aborted; i++) {
      const posted = post(`${name}-${i}`)
        .catch(error => void refused.push(error))
        .finally(() => inFlight.delete(posted))
      inFlight.add(posted)
      if (inFlight.size >= maxInFlight) await Promise.race(inFlight)
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => {}) // ends early on stop
    }
    await Promise.all(inFlight)
  }
  const running = run()
  return {
    accepted,
    repeated,
    async stop() {
      stop.abort()
      await running
      if (refused.length > 0) throw refused[0]
    },
  }
}
