import { faultUnderLoad } from '../fault-under-load.ts'
import { demandHits, demandRuns, demandStop } from '../fixture/demands.ts'
import { countDelayedJobs, forgeJob } from '../fixture/forge-job.ts'
import { load } from '../fixture/load.ts'
import { burst, freeze, killAll, lasting, untilInState } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const hang = { does: 'hang' } as const
// The scheduler takes a dispatcher for dead after 12 s.
const frozenMs = 30_000

/** Dispatchers are stopped, frozen or confused, alone and all together. */
export const dispatcherStops: Row[] = [
  faultUnderLoad({
    id: 'F13',
    fault: 'kill -9 of all processes at once, restart after 10 s',
    moment: 'load',
    expected: 'all delivered; repeated at most what was in flight',
    tasks: { tasks: 200 },
    calls: 60,
    async strike(fixture) {
      await killAll(fixture)
      await lasting(10_000)
      await fixture.startAll()
      return { latenessMs: 60_000 }
    },
  }),
  {
    id: 'F14',
    fault: 'SIGTERM dispatcher, rolling, 20 times',
    moment: 'load',
    expected: 'each ends with code 0; nothing repeated, no attempt lost',
    async run(fixture, seed) {
      let { dispatcher } = await fixture.startAll()
      const loading = load(fixture, { tasks: 240, spreadMs: 40_000, seed, someFail: false })
      for (let i = 0; i < 20; i++) {
        const next = await fixture.start('dispatcher')
        const code = await dispatcher.stop('SIGTERM')
        fixture.demand(code === 0, `Dispatcher ${i + 1} ended with ${code}.`)
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
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.create({ path: '/one', answers: [hang, { status: 200 }], timeoutMs: 60_000 })
      await fixture.target.reached('/one', 1)
      await fixture.charges.all('SIGTERM while the target hangs')
      await demandStop(fixture, dispatcher, 31_000)
      await fixture.start('dispatcher')
      await untilInState(fixture, ['success'], 1)
      await demandRuns(fixture, 'worker_lost,success')
      return {}
    },
  },
  {
    id: 'F16',
    fault: 'SIGTERM twice',
    moment: 'M3',
    expected: 'ends at once; as F07',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.create({ path: '/one', answers: [hang, { status: 200 }], timeoutMs: 5_000 })
      await fixture.target.reached('/one', 1)
      void dispatcher.stop('SIGTERM')
      await lasting(300)
      const code = await dispatcher.stop('SIGTERM')
      fixture.demand(code === 1, `It ended with ${code}.`)
      await fixture.start('dispatcher')
      await untilInState(fixture, ['success'], 1, 60_000)
      await demandRuns(fixture, 'worker_lost,success')
      return {}
    },
  },
  {
    id: 'F17',
    fault: 'STOP dispatcher for 30 s, then CONT',
    moment: 'M3',
    expected: 'taken for dead after 12 s, another one sends again; what the frozen one knows is refused',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.create({ path: '/one', answers: [hang, { status: 200 }] })
      await fixture.target.reached('/one', 1)
      const frozen = freeze(fixture, dispatcher, frozenMs)
      await fixture.start('dispatcher')
      await untilInState(fixture, ['success'], 1, 60_000)
      await frozen
      await lasting(1_500)
      fixture.demand(dispatcher.output.includes('"superseded"'), 'The frozen dispatcher was not refused.')
      demandHits(fixture, 2)
      await demandRuns(fixture, 'worker_lost,success')
      return {}
    },
  },
  {
    id: 'F18',
    fault: 'STOP dispatcher for 8 s',
    moment: 'M4',
    expected: '1 hit; the deadline is kept, the dispatcher is not taken for dead',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.create({ path: '/one', answers: [{ does: 'hang_in_body' }] })
      await fixture.target.reached('/one', 1)
      await lasting(300) // for the headers to arrive
      await freeze(fixture, dispatcher, 8_000)
      await untilInState(fixture, ['success'], 1)
      demandHits(fixture, 1)
      return {}
    },
  },
  {
    id: 'F19',
    fault: 'event loop blocked for 5 s',
    moment: 'load',
    expected: 'nothing lost, nothing repeated; an answer that came in time counts',
    async run(fixture, seed) {
      await fixture.startAll({ dispatcher: { failpoints: 'dispatcher.claimed=block(5000)#30' } })
      await load(fixture, { seed })
      await untilInState(fixture, ['success', 'dead'], 120)
      const timedOut = await fixture.count(`runs WHERE error_code = 'timeout'`)
      fixture.demand(timedOut === 0, `${timedOut} attempts count as timed out although their targets had answered.`)
      return { latenessMs: 15_000 }
    },
  },
  {
    id: 'F20',
    aboutRedis: true,
    fault: 'two dispatchers get the same task from jobs with other ids',
    moment: 'M1',
    expected: 'one claim wins; 1 hit each',
    async run(fixture) {
      await fixture.startAll()
      await fixture.start('dispatcher')
      await burst(fixture, 10, { inMs: 6_000 })
      const tasks = fixture.creates.map(({ id, executeAt }) => [id ?? '', executeAt] as const)
      // Jobs that are due now: both dispatchers buffer the tasks and wait for their timers.
      await Promise.all(Array.from({ length: 12 }, (_, i) => forgeJob(fixture, `forged-${i}`, tasks)))
      await untilInState(fixture, ['success'], 10)
      demandHits(fixture, 10)
      return { latenessMs: 2_000 }
    },
  },
  {
    id: 'F21',
    aboutRedis: true,
    fault: 'forged jobs: unknown, malformed, finished and cancelled tasks',
    moment: 'M1',
    expected: 'dropped; 0 hits',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      const finished = await fixture.create({ path: '/finished' })
      await untilInState(fixture, ['success'], 1)
      const cancelled = await fixture.create({ path: '/cancelled', inMs: 5_000 })
      await fixture.cancel(cancelled.id ?? '')
      const ids = [finished.id ?? '', cancelled.id ?? '', 'task_01h455vb4pex5vsknk084sn02q', 'nonsense', '']
      await forgeJob(
        fixture,
        'forged',
        ids.map(id => [id, Date.now()] as const),
      )
      demandHits(fixture, 1)
      fixture.demand(dispatcher.output.includes('job.unknown'), 'The malformed id was not logged.')
      fixture.notes.push(`${await countDelayedJobs(fixture)} jobs left`)
      return {}
    },
  },
]
