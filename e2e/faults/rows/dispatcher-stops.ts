import { untilInState } from '../bench/bench.ts'
import { countDelayedJobs, forgeJob } from '../bench/forge-job.ts'
import { load } from '../bench/load.ts'
import { burst, called, freeze, killAll, lasting } from '../bench/moments.ts'
import type { Row } from '../row.ts'
import { demandHits, demandRuns } from './dispatcher-kills.ts'

const hang = { does: 'hang' } as const
const leaseMs = 16_000

/** Dispatchers that are stopped, frozen or confused, alone and all together. */
export const dispatcherStops: Row[] = [
  {
    id: 'F13',
    fault: 'kill -9 of all processes at once, restart after 10 s',
    moment: 'load',
    expected: 'all delivered; repeated at most what was under way',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { tasks: 200, seed })
      await called(bench, 60)
      await killAll(bench)
      await lasting(10_000)
      await bench.startAll()
      return { repeatsPerTask: 1, latenessMs: 60_000 }
    },
  },
  {
    id: 'F14',
    fault: 'SIGTERM dispatcher, rolling, 20 times',
    moment: 'load',
    expected: 'each ends with code 0; nothing repeated, no attempt lost',
    async run(bench, seed) {
      let { dispatcher } = await bench.startAll()
      const loading = load(bench, { tasks: 240, spreadMs: 40_000, seed, someFail: false })
      for (let i = 0; i < 20; i++) {
        const next = await bench.start('dispatcher')
        const code = await dispatcher.stop('SIGTERM')
        bench.demand(code === 0, `Dispatcher ${i + 1} ended with ${code}.`)
        dispatcher = next
      }
      await loading
      return { latenessMs: 10_000 }
    },
  },
  {
    id: 'F15',
    fault: 'SIGTERM while a target hangs',
    moment: 'M3',
    expected: 'exit 0 within 30 s; the attempt is recorded as lost and tried again',
    async run(bench) {
      const { dispatcher } = await bench.startAll()
      await bench.create({ path: '/one', answers: [hang, { status: 200 }], timeoutMs: 60_000 })
      await bench.target.reached('/one', 1)
      const began = performance.now()
      const code = await dispatcher.stop('SIGTERM')
      const tookMs = Math.round(performance.now() - began)
      bench.notes.push(`exit after ${(tookMs / 1000).toFixed(1)} s`)
      bench.demand(code === 0 && tookMs < 31_000, `It ended with ${code} after ${tookMs} ms.`)
      await bench.start('dispatcher')
      await untilInState(bench, ['success'], 1)
      await demandRuns(bench, 'worker_lost,success')
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'F16',
    fault: 'SIGTERM twice',
    moment: 'M3',
    expected: 'ends at once; as F07',
    async run(bench) {
      const { dispatcher } = await bench.startAll()
      await bench.create({ path: '/one', answers: [hang, { status: 200 }], timeoutMs: 5_000 })
      await bench.target.reached('/one', 1)
      void dispatcher.stop('SIGTERM')
      await lasting(300)
      const code = await dispatcher.stop('SIGTERM')
      bench.demand(code === 1, `It ended with ${code}.`)
      await bench.start('dispatcher')
      await untilInState(bench, ['success'], 1, 60_000)
      await demandRuns(bench, 'worker_lost,success')
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'F17',
    fault: 'STOP dispatcher for its lease and 20 s more, then CONT',
    moment: 'M3',
    expected: 'another one sends again; what the frozen one knows is refused',
    async run(bench) {
      const { dispatcher } = await bench.startAll()
      await bench.create({ path: '/one', answers: [hang, { status: 200 }] })
      await bench.target.reached('/one', 1)
      const frozen = freeze(dispatcher, leaseMs + 20_000)
      await bench.start('dispatcher')
      await untilInState(bench, ['success'], 1, 60_000)
      await frozen
      await lasting(1_500)
      bench.demand(dispatcher.output.includes('"superseded"'), 'The frozen dispatcher was not refused.')
      await demandHits(bench, 2)
      await demandRuns(bench, 'worker_lost,success')
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'F18',
    fault: 'STOP dispatcher for 10 s',
    moment: 'M4',
    expected: '1 hit; the deadline is kept, the lease is not lost',
    async run(bench) {
      const { dispatcher } = await bench.startAll()
      await bench.create({ path: '/one', answers: [{ does: 'hang_in_body' }] })
      await bench.target.reached('/one', 1)
      await lasting(300) // for the headers to arrive
      await freeze(dispatcher, 10_000)
      await untilInState(bench, ['success'], 1)
      await demandHits(bench, 1)
      return {}
    },
  },
  {
    id: 'F19',
    fault: 'event loop blocked for 5 s',
    moment: 'load',
    expected: 'nothing lost, nothing repeated; an answer that came in time counts',
    async run(bench, seed) {
      await bench.startAll({ dispatcher: { failpoints: 'dispatcher.claimed=block(5000)#30' } })
      await load(bench, { seed })
      await untilInState(bench, ['success', 'dead'], 120)
      const [timedOut] = await bench.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM runs WHERE error_code = 'timeout'`,
      )
      bench.demand(timedOut?.n === 0, `${timedOut?.n} attempts count as timed out although their targets had answered.`)
      return { latenessMs: 15_000 }
    },
  },
  {
    id: 'F20',
    fault: 'two dispatchers get the same task from jobs with other ids',
    moment: 'M1',
    expected: 'one claim wins; 1 hit each',
    async run(bench) {
      await bench.startAll()
      await bench.start('dispatcher')
      await burst(bench, 10, { inMs: 6_000 })
      const tasks = bench.creates.map(({ id, executeAt }) => [id ?? '', executeAt] as const)
      // Jobs that are due now: both dispatchers hold the tasks in hand and wait for their instant.
      await Promise.all(Array.from({ length: 12 }, (_, i) => forgeJob(bench, `forged-${i}`, tasks)))
      await untilInState(bench, ['success'], 10)
      await demandHits(bench, 10)
      return { latenessMs: 2_000 }
    },
  },
  {
    id: 'F21',
    fault: 'forged jobs: unknown, malformed, finished and cancelled tasks',
    moment: 'M1',
    expected: 'dropped; 0 hits',
    async run(bench) {
      const { dispatcher } = await bench.startAll()
      const finished = await bench.create({ path: '/finished' })
      await untilInState(bench, ['success'], 1)
      const cancelled = await bench.create({ path: '/cancelled', inMs: 5_000 })
      await bench.cancel(cancelled.id ?? '')
      const ids = [finished.id ?? '', cancelled.id ?? '', 'task_01h455vb4pex5vsknk084sn02q', 'nonsense', '']
      await forgeJob(
        bench,
        'forged',
        ids.map(id => [id, Date.now()] as const),
      )
      await demandHits(bench, 1)
      bench.demand(dispatcher.output.includes('job.unknown'), 'The malformed id was not logged.')
      bench.notes.push(`${await countDelayedJobs(bench)} jobs left`)
      return {}
    },
  },
]
