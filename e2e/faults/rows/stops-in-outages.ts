import { slowTask } from '../fault-under-load.ts'
import { demandStop } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { burst, called, lasting } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const maxStopMs = 10_000
const maxDrainMs = 31_000

/** A dispatcher gets SIGTERM while a server is away: an outage is a likely time for a deployment. */
export const stopsInOutages: Row[] = [
  {
    id: 'S20',
    aboutRedis: true,
    fault: 'SIGTERM of an idle dispatcher while Redis is away',
    moment: 'idle',
    expected: 'exit 0 within 10 s',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.redis.kill()
      await lasting(2_000)
      await demandStop(fixture, dispatcher, maxStopMs)
      await fixture.redis.start()
      await fixture.start('dispatcher')
      await burst(fixture, 5)
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'S21',
    aboutRedis: true,
    fault: 'SIGTERM of a dispatcher while Redis is away',
    moment: 'M3, prefetched claims',
    expected: 'exit 0 within 10 s; no task is left processing, or retrying without an attempt; nothing repeated',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await burst(fixture, 400, { ...slowTask, inMs: 12_000 })
      await called(fixture, 40)
      await fixture.redis.kill()
      await lasting(1_000)
      await demandStop(fixture, dispatcher, maxStopMs)
      await demandNothingClaimed(fixture)
      await fixture.start('dispatcher')
      await lasting(3_000)
      await fixture.redis.start()
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'S22',
    aboutRedis: true,
    fault: 'SIGTERM of a dispatcher while Redis is away and a target hangs',
    moment: 'M3, prefetched claims',
    expected: 'exit 0 within 30 s; what hung is recorded as lost, everything else is finished or undone',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      const hanging = { answers: [{ does: 'hang' } as const, { status: 200 }], timeoutMs: 60_000 }
      for (let i = 0; i < 5; i++) await fixture.create({ ...hanging, path: `/hang-${i}`, inMs: 6_000 })
      await burst(fixture, 200, { ...slowTask, inMs: 8_000 })
      for (let i = 0; i < 5; i++) await fixture.target.reached(`/hang-${i}`, 1)
      await called(fixture, 40)
      await fixture.redis.kill()
      await fixture.charges.all('SIGTERM while five targets hang')
      await demandStop(fixture, dispatcher, maxDrainMs)
      await demandNothingClaimed(fixture)
      const lost = await fixture.count(`runs WHERE error_code = 'worker_lost'`)
      fixture.demand(lost === 5, `${lost} attempts were lost; 5 targets hung.`)
      await fixture.start('dispatcher')
      await fixture.redis.start()
      return { latenessMs: 90_000 }
    },
  },
  {
    id: 'S23',
    fault: 'SIGTERM of a dispatcher while PostgreSQL is away for 5 s',
    moment: 'M3, prefetched claims',
    expected: 'exit 0 within 10 s of its return; no task is left processing; nothing repeated',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await burst(fixture, 400, { ...slowTask, inMs: 12_000 })
      await called(fixture, 40)
      await fixture.postgres.stop('immediate')
      const stopping = demandStop(fixture, dispatcher, maxStopMs + 6_000)
      await lasting(5_000)
      await fixture.postgres.start()
      await stopping
      await demandNothingClaimed(fixture)
      await fixture.start('dispatcher')
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'S24',
    fault: 'SIGTERM of an idle dispatcher while PostgreSQL is away',
    moment: 'idle',
    expected: 'exit 0 within 10 s',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.postgres.stop('fast')
      await lasting(2_000)
      await demandStop(fixture, dispatcher, maxStopMs)
      await fixture.postgres.start()
      await fixture.start('dispatcher')
      await burst(fixture, 5)
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'S25',
    fault: 'SIGTERM of a dispatcher while PostgreSQL is away for longer than it waits',
    moment: 'M5',
    expected: 'exit 1 after 30 s; the calls whose outcomes it could not record are repeated, once',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      const answers = [{ status: 200, delayMs: 3_000 }, { status: 200 }]
      await burst(fixture, 20, { answers, timeoutMs: 10_000 })
      await called(fixture, 20)
      await fixture.postgres.stop('immediate')
      await demandStop(fixture, dispatcher, maxDrainMs + 2_000, 1)
      await fixture.postgres.start()
      await fixture.start('dispatcher')
      await called(fixture, 40)
      return { latenessMs: 60_000 }
    },
  },
]

// To be called before another dispatcher starts.
async function demandNothingClaimed(fixture: Fixture): Promise<void> {
  const [held] = await fixture.sql<{ processing: number; unattempted: number }>(
    `SELECT count(*) FILTER (WHERE state = 'processing')::int AS processing,
            count(*) FILTER (WHERE state = 'retrying' AND attempts = 0)::int AS unattempted FROM tasks`,
  )
  fixture.demand(held?.processing === 0, `${held?.processing} tasks were left processing.`)
  fixture.demand(held?.unattempted === 0, `${held?.unattempted} tasks were left retrying without an attempt.`)
}
