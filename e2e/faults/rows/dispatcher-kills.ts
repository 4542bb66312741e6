import type { Bench, TaskSpec } from '../bench/bench.ts'
import { untilInState } from '../bench/bench.ts'
import type { Row } from '../row.ts'

const hang = { does: 'hang' } as const
const leaseAndSweepMs = 16_000 + 60_000

/** A dispatcher that dies at each moment of an attempt. */
export const dispatcherKills: Row[] = [
  {
    id: 'F05',
    fault: 'kill -9 dispatcher',
    moment: 'M1',
    expected: 'another one claims; 1 hit',
    async run(bench) {
      await killDuringAttempt(bench, 'dispatcher.job_taken=kill', {})
      await demandHits(bench, 1)
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F06',
    fault: 'kill -9 dispatcher',
    moment: 'M2',
    expected: 'attempt 1 is lost and never sent; tried again after the lease; 1 hit',
    async run(bench) {
      await killDuringAttempt(bench, 'dispatcher.claimed=kill', {})
      await demandHits(bench, 1)
      await demandRuns(bench, 'worker_lost,success')
      return { latenessMs: leaseAndSweepMs }
    },
  },
  {
    id: 'F07',
    fault: 'kill -9 dispatcher',
    moment: 'M3',
    expected: '2 hits with the same webhook-id, attempts 1 and 2 on record',
    async run(bench) {
      await killDuringAttempt(bench, 'dispatcher.request_sent=kill(50)', { answers: [hang, { status: 200 }] })
      await demandHits(bench, 2)
      await demandRuns(bench, 'worker_lost,success')
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'F08',
    fault: 'kill -9 dispatcher',
    moment: 'M4',
    expected: 'as F07',
    async run(bench) {
      const answers = [{ does: 'hang_in_body' as const }, { status: 200 }]
      await killDuringAttempt(bench, 'dispatcher.request_sent=kill(300)', { answers })
      await demandHits(bench, 2)
      await demandRuns(bench, 'worker_lost,success')
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'F09',
    fault: 'kill -9 dispatcher',
    moment: 'M5',
    expected: 'delivered once and repeated once: the documented duplicate',
    async run(bench) {
      await killDuringAttempt(bench, 'dispatcher.answered=kill', {})
      await demandHits(bench, 2)
      await demandRuns(bench, 'worker_lost,success')
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'F10',
    fault: 'kill -9 dispatcher',
    moment: 'M6',
    expected: '1 hit; whoever takes the job again finds the task finished',
    async run(bench) {
      await killDuringAttempt(bench, 'dispatcher.recorded=kill', {})
      await demandHits(bench, 1)
      return {}
    },
  },
  {
    id: 'F11',
    fault: 'kill -9 dispatcher',
    moment: 'M7',
    expected: 'the retry takes place without its job, at most 60 s late; 2 hits, nothing lost',
    async run(bench) {
      const answers = [{ status: 500 }, { status: 200 }]
      await killDuringAttempt(bench, 'dispatcher.retry_recorded=kill', { answers })
      await demandHits(bench, 2)
      await demandRuns(bench, 'http_status,success')
      return {}
    },
  },
  {
    id: 'F12',
    fault: 'kill -9 dispatcher, again and again on one task',
    moment: 'M3',
    expected: 'each attempt on record; after the third loss the task is dead; BullMQ’s stalled counter has no say',
    async run(bench) {
      await bench.startAll({ dispatcher: { failpoints: 'dispatcher.request_sent=kill(50)' } })
      await bench.create({ path: '/one', answers: [hang], maxRetries: 10 })
      for (let losses = 1; losses <= 3; losses++) {
        await bench.services.at(-1)?.ended
        await bench.target.reached('/one', losses)
        if (losses < 3) await bench.start('dispatcher', { failpoints: 'dispatcher.request_sent=kill(50)' })
      }
      await bench.start('dispatcher')
      await untilInState(bench, ['dead'], 1, 60_000)
      await demandHits(bench, 3)
      await demandRuns(bench, 'worker_lost,worker_lost,worker_lost')
      return { repeatsPerTask: 3 }
    },
  },
  {
    id: 'F68',
    fault: 'a task whose every attempt kills the dispatcher',
    moment: 'M2',
    expected: 'dead after three losses; the tasks beside it are delivered',
    async run(bench) {
      const failpoints = 'dispatcher.claimed=kill#1'
      await bench.startAll({ dispatcher: { failpoints } })
      const poison = await bench.create({ path: '/poison', inMs: 1_000, maxRetries: 10 })
      await Promise.all(Array.from({ length: 10 }, (_, i) => bench.create({ path: `/${i}`, inMs: 70_000 })))
      for (let losses = 1; losses <= 3; losses++) {
        await bench.services.at(-1)?.ended
        if (losses < 3) await bench.start('dispatcher', { failpoints })
      }
      await bench.start('dispatcher')
      await untilInState(bench, ['dead'], 1, 60_000)
      await untilInState(bench, ['success'], 10, 60_000)
      bench.demand(bench.target.count('/poison') === 0, `The target was called for ${poison.id}.`)
      return { latenessMs: 30_000 }
    },
  },
]

async function killDuringAttempt(bench: Bench, failpoints: string, spec: Partial<TaskSpec>): Promise<void> {
  const { dispatcher } = await bench.startAll({ dispatcher: { failpoints } })
  await bench.create({ path: '/one', ...spec })
  bench.demand((await dispatcher.ended) === 'SIGKILL', 'The dispatcher was not killed.')
  await bench.start('dispatcher')
  await untilInState(bench, ['success', 'dead'], 1, 90_000)
}

/** Demands how often the one task of a row was sent. */
export async function demandHits(bench: Bench, count: number): Promise<void> {
  bench.demand(bench.target.count() === count, `The target was called ${bench.target.count()} times, not ${count}.`)
}

/** Demands how the attempts of the one task of a row ended. */
export async function demandRuns(bench: Bench, outcomes: string): Promise<void> {
  const [row] = await bench.sql<{ outcomes: string }>(
    `SELECT string_agg(coalesce(error_code, status::text), ',' ORDER BY attempt) AS outcomes FROM runs`,
  )
  bench.demand(row?.outcomes === outcomes, `The attempts ended with ${row?.outcomes}, not with ${outcomes}.`)
}
