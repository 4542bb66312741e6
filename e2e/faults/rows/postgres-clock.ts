import { demandHits } from '../fixture/demands.ts'
import { fakeClockOfPostgres } from '../fixture/faked-postgres.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { burst, called, lasting, untilInState } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const needs = 'libfaketime.so.1'
const slow = { answers: [{ status: 200, delayMs: 8_000 }], timeoutMs: 20_000 }

const steps: Array<[string, number]> = [
  ['S16', 3_600],
  ['S17', -90],
]

/** The clock of PostgreSQL changes while it runs. */
export const postgresClock: Row[] = [
  ...steps.map(
    ([id, seconds]): Row => ({
      id,
      needs,
      fault: `PostgreSQL’s clock steps by ${seconds > 0 ? '+1 h' : '−90 s'}`,
      moment: 'M3',
      expected: 'no attempt in flight is taken for lost; 1 hit each; tasks created afterwards are delivered',
      async run(fixture) {
        const clock = await fakeClockOfPostgres(fixture)
        await fixture.startAll()
        await burst(fixture, 30, slow)
        await called(fixture, 30)
        await clock.set(seconds)
        await demandClock(fixture, seconds)
        await untilInState(fixture, ['success'], 30, 60_000)
        await lasting(15_000)
        demandHits(fixture, 30)
        const executeAt = Date.now() + seconds * 1_000 + 3_000
        for (let i = 0; i < 10; i++) await fixture.create({ path: `/after-${i}`, executeAt })
        await untilInState(fixture, ['success'], 40, 70_000)
        return { latenessMs: 60_000 }
      },
    }),
  ),
  {
    id: 'F60',
    needs,
    fault: 'PostgreSQL’s clock steps by +1 h, then back by 60 s',
    moment: 'cron',
    expected: 'each skipped occurrence is caught up on; none is called twice',
    async run(fixture) {
      const clock = await fakeClockOfPostgres(fixture)
      await fixture.startAll()
      for (const catchUp of ['all', 'latest', 'none'] as const)
        await fixture.createCronJob({ path: `/${catchUp}`, catchUp })
      await clock.set(3_600)
      await demandClock(fixture, 3_600)
      await fixture.target.reached('/all', 59, 60_000)
      const hits = () => ['/all', '/latest', '/none'].map(path => fixture.target.count(path))
      await lasting(5_000)
      fixture.notes.push(`called ${hits().join(', ')} times for all, latest and none`)
      await clock.set(3_600 - 60)
      // Until it is later than ever before: the checker compares times.
      await lasting(75_000)
      return { latenessMs: 3_700_000 }
    },
  },
]

async function demandClock(fixture: Fixture, seconds: number): Promise<void> {
  const [row] = await fixture.sql<{ ms: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms')
  const steppedMs = (row?.ms ?? 0) - Date.now()
  fixture.demand(Math.abs(steppedMs - seconds * 1_000) < 5_000, `PostgreSQL’s clock stepped by ${steppedMs} ms.`)
}
