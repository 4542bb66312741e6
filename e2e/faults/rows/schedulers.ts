import { waitFor } from '@belfry/test-support/wait-for'
import { demandHits, demandKilled } from '../fixture/demands.ts'
import { countDelayedTasks } from '../fixture/forge-job.ts'
import { load } from '../fixture/load.ts'
import { burst, called, lasting, untilInState } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

/** Several schedulers run at once, or one dies. S01 to S03 do for tasks what F53 to F55 do for cron jobs. */
export const schedulers: Row[] = [
  {
    id: 'F56',
    aboutRedis: true,
    fault: 'two, then three schedulers at once, and FLUSHALL',
    moment: 'promotion',
    expected: 'each task stands in one job, and is sent once',
    async run(fixture, seed) {
      await fixture.startAll()
      await fixture.start('scheduler')
      await load(fixture, { seed, someFail: false })
      await burst(fixture, 60, { inMs: 25_000 })
      await fixture.start('scheduler')
      await fixture.redis.client.flushall()
      await untilInState(fixture, ['success', 'dead'], 120)
      await waitFor(
        () => countDelayedTasks(fixture),
        count => count >= 60,
      )
      await lasting(3_000)
      const count = await countDelayedTasks(fixture)
      fixture.demand(count === 60, `60 tasks stand in delayed jobs ${count} times.`)
      return { latenessMs: 60_000 }
    },
  },
  ...['before_promote', 'promoted'].map(
    (moment, index): Row => ({
      id: `S0${index + 1}`,
      aboutRedis: true,
      fault: 'kill -9 scheduler while it refills a lost queue',
      moment: index === 0 ? 'before the first job' : 'after the last job, before the commit',
      expected: 'another one repeats the window; each task has one job, and is sent once',
      async run(fixture) {
        const { scheduler } = await fixture.startAll()
        await burst(fixture, 40, { inMs: 9_000 })
        await scheduler.stop('SIGKILL')
        await fixture.redis.client.flushall()
        const doomed = await fixture.start('scheduler', { failpoints: `scheduler.${moment}=kill#1` })
        await demandKilled(fixture, doomed)
        await fixture.start('scheduler')
        await untilInState(fixture, ['success'], 40)
        demandHits(fixture, 40)
        return { latenessMs: 60_000 }
      },
    }),
  ),
  {
    id: 'S03',
    fault: 'kill -9 scheduler and dispatcher',
    moment: 'the attempts of a dead dispatcher were ended, the queue does not know',
    expected: 'tried again at most 60 s later',
    async run(fixture) {
      const { dispatcher, scheduler } = await fixture.startAll({ scheduler: { failpoints: 'scheduler.expired=kill' } })
      await fixture.create({ path: '/one', answers: [{ does: 'hang' }, { status: 200 }] })
      await called(fixture, 1)
      await dispatcher.stop('SIGKILL')
      await fixture.start('dispatcher')
      await demandKilled(fixture, scheduler)
      await fixture.start('scheduler')
      await untilInState(fixture, ['success'], 1, 60_000)
      demandHits(fixture, 2)
      return {}
    },
  },
]
