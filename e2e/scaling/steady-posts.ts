import { setTimeout as sleep } from 'node:timers/promises'
import type { Receiver } from '@belfry/testing'
import { type Caller, callApi, inMs } from '../api-calls.ts'

/** Creates tasks all the time, as a client does that repeats a call without an answer under the same key. */
export type SteadyPosts = {
  /** The paths of the tasks that were accepted so far. */
  readonly accepted: readonly string[]
  /** The answers after which a call was repeated so far, by their status. */
  readonly repeated: ReadonlyArray<number | 'broken'>
  /** Begins no further call, and resolves when those under way have been answered; rejects with what was refused. */
  stop(): Promise<void>
}

const path = '/api/v1/scheduler/tasks'
const everyMs = 40
const patienceMs = 60_000
// A busy machine answers fewer. More of them would wait for each other until the times of their tasks have passed.
const maxUnderWay = 20

/** Starts it: tasks come due `aheadMs` after they are made, and have five seconds to be answered. */
export function startSteadyPosts(
  url: string,
  caller: Caller,
  target: Receiver,
  aheadMs: number,
  name = 'task',
): SteadyPosts {
  const accepted: string[] = []
  const underWay = new Set<Promise<void>>()
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
      // Nothing was stored, and by now its time has passed.
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
        .finally(() => underWay.delete(posted))
      underWay.add(posted)
      if (underWay.size >= maxUnderWay) await Promise.race(underWay)
      await sleep(everyMs, undefined, { signal: stop.signal }).catch(() => {}) // ends early when it is to stop
    }
    await Promise.all(underWay)
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
