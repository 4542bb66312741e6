import type { TaskSpec } from '../fixture/api-operations.ts'
import { demandHits, demandKilled, demandRuns } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { restartDispatcherUntil, untilInState, untilTaskIs } from '../fixture/moments.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type { Allowance, Row } from '../row.ts'

const hang = { does: 'hang' } as const
// The scheduler notices a death after 12 s; it spreads the lost tasks over some seconds more.
const noticedMs = 30_000

/** A dispatcher dies at each moment of an attempt. */
export const dispatcherKills: Row[] = [
  killDuringAttempt({
    id: 'F05',
    moment: 'M1',
    expected: 'another one claims; 1 hit',
    failpoint: 'before_claim=kill',
    hits: 1,
    latenessMs: 60_000,
  }),
  killDuringAttempt({
    id: 'F06',
    moment: 'M2',
    expected: 'a claim that was never sent: undone or lost, and sent by another dispatcher within 30 s; 1 hit',
    failpoint: 'claimed=kill',
    hits: 1,
    runs: ['worker_lost,success', 'success'],
    latenessMs: noticedMs,
  }),
  killDuringAttempt({
    id: 'F07',
    moment: 'M3',
    expected: '2 hits with the same webhook-id, attempts 1 and 2 on record; the second within 30 s of the death',
    failpoint: 'request_sent=kill(50)',
    answers: [hang, { status: 200 }],
    hits: 2,
    runs: ['worker_lost,success'],
    latenessMs: 2_000,
  }),
  killDuringAttempt({
    id: 'F08',
    moment: 'M4',
    expected: 'as F07',
    failpoint: 'request_sent=kill(300)',
    answers: [{ does: 'hang_in_body' }, { status: 200 }],
    hits: 2,
    runs: ['worker_lost,success'],
    latenessMs: 2_000,
  }),
  killDuringAttempt({
    id: 'F09',
    moment: 'M5',
    expected: 'delivered once and repeated once: the documented duplicate',
    failpoint: 'answered=kill',
    hits: 2,
    runs: ['worker_lost,success'],
    latenessMs: 2_000,
  }),
  killDuringAttempt({
    id: 'F10',
    moment: 'M6',
    expected: '1 hit; a dispatcher that takes the job again finds the task finished',
    failpoint: 'recorded=kill',
    hits: 1,
  }),
  killDuringAttempt({
    id: 'F11',
    moment: 'M7',
    expected: 'the retry takes place without its job, at most 60 s late; 2 hits, nothing lost',
    failpoint: 'retry_recorded=kill',
    answers: [{ status: 500 }, { status: 200 }],
    hits: 2,
    runs: ['http_status,success'],
  }),
  {
    id: 'F12',
    fault: 'kill -9 of each process that calls one task',
    moment: 'M3',
    expected:
      'each attempt on record; dead after three losses while it was alone; BullMQ’s stalled counter does not count',
    async run(fixture) {
      const failing = { failpoints: 'dispatcher.request_sent=kill(50)' }
      await fixture.startAll({ dispatcher: failing })
      const { id } = await fixture.create({ path: '/one', answers: [hang], maxRetries: 10 })
      await restartDispatcherUntil(fixture, failing, () => isDead(fixture, id), 150_000)
      const losses = fixture.target.count()
      fixture.demand(losses === 3 || losses === 4, `The target was called ${losses} times.`)
      await demandRuns(fixture, Array.from({ length: losses }, () => 'worker_lost').join())
      return { poison: [uuidOf(id ?? '')] }
    },
  },
  {
    id: 'F68',
    fault: 'a task whose every attempt kills the process',
    moment: 'M2',
    expected: 'dead after three losses while it was alone, with its reason; the tasks beside it are delivered',
    async run(fixture) {
      const failing = { failpoints: 'dispatcher.claimed=kill#1' }
      await fixture.startAll({ dispatcher: failing })
      const poison = await fixture.create({ path: '/poison', inMs: 1_000, maxRetries: 10 })
      const dueAt = Date.now() + 120_000
      await restartDispatcherUntil(fixture, failing, () => isDead(fixture, poison.id), 110_000)
      await fixture.services.at(-1)?.stop('SIGKILL')
      await fixture.start('dispatcher')
      const others = Array.from({ length: 10 }, (_, i) => fixture.create({ path: `/${i}`, executeAt: dueAt }))
      await Promise.all((await Promise.all(others)).map(({ id }) => untilTaskIs(fixture, id, 'success', 150_000)))
      fixture.demand(fixture.target.count('/poison') === 0, `The target was called for ${poison.id}.`)
      return { latenessMs: 30_000, poison: [uuidOf(poison.id ?? '')] }
    },
  },
]

async function isDead(fixture: Fixture, id: string | null): Promise<boolean> {
  const [task] = await fixture.sql<{ state: string }>('SELECT state FROM tasks WHERE id = $1', [uuidOf(id ?? '')])
  return task?.state === 'dead'
}

type Kill = Pick<Row, 'id' | 'moment' | 'expected'> &
  Pick<Allowance, 'latenessMs'> & {
    /** Of the dispatcher. */
    failpoint: string
    answers?: TaskSpec['answers']
    hits: number
    /** How the attempts may end. */
    runs?: string[]
  }

function killDuringAttempt({ failpoint, answers, hits, runs, latenessMs, ...row }: Kill): Row {
  return {
    ...row,
    fault: 'kill -9 dispatcher',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll({ dispatcher: { failpoints: `dispatcher.${failpoint}` } })
      await fixture.create({ path: '/one', ...(answers && { answers }) })
      await demandKilled(fixture, dispatcher)
      await fixture.start('dispatcher')
      await untilInState(fixture, ['success', 'dead'], 1, 90_000)
      demandHits(fixture, hits)
      if (runs) await demandRuns(fixture, ...runs)
      return latenessMs === undefined ? {} : { latenessMs }
    },
  }
}
