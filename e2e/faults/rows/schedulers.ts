import { waitFor } from '../../wait-for.ts'
import { untilInState } from '../bench/bench.ts'
import { countDelayedTasks } from '../bench/forge-job.ts'
import { load } from '../bench/load.ts'
import { burst, called, lasting } from '../bench/moments.ts'
import type { Row } from '../row.ts'
import { demandHits } from './dispatcher-kills.ts'

/** Schedulers that are too many or die. The rows S01 to S03 are ours, in place of the matrix's C1 to C3 for tasks. */
export const schedulers: Row[] = [
  {
    id: 'F56',
    fault: 'two, then three schedulers at once, and FLUSHALL',
    moment: 'promotion',
    expected: 'each task stands in one job, and is sent once',
    async run(bench, seed) {
      await bench.startAll()
      await bench.start('scheduler')
      await load(bench, { seed, someFail: false })
      await burst(bench, 60, { inMs: 25_000 })
      await bench.start('scheduler')
      await bench.redis.client.flushall()
      await untilInState(bench, ['success', 'dead'], 120)
      await waitFor(
        () => countDelayedTasks(bench),
        count => count >= 60,
      )
      await lasting(3_000)
      const count = await countDelayedTasks(bench)
      bench.demand(count === 60, `60 tasks stand in delayed jobs ${count} times.`)
      return { latenessMs: 60_000 }
    },
  },
  ...['before_promote', 'promoted'].map(
    (moment, index): Row => ({
      id: `S0${index + 1}`,
      fault: 'kill -9 scheduler while it hands a lost queue’s work over again',
      moment: index === 0 ? 'before the first job' : 'after the last job, before the commit',
      expected: 'another one repeats the window; each task has one job, and is sent once',
      async run(bench) {
        const { scheduler } = await bench.startAll()
        await burst(bench, 40, { inMs: 9_000 })
        await scheduler.stop('SIGKILL')
        await bench.redis.client.flushall()
        const doomed = await bench.start('scheduler', { failpoints: `scheduler.${moment}=kill#1` })
        bench.demand((await doomed.ended) === 'SIGKILL', 'The scheduler was not killed.')
        await bench.start('scheduler')
        await untilInState(bench, ['success'], 40)
        await demandHits(bench, 40)
        return { latenessMs: 60_000 }
      },
    }),
  ),
  {
    id: 'S03',
    fault: 'kill -9 scheduler and dispatcher',
    moment: 'the lease was ended, the queue does not know',
    expected: 'tried again at most 60 s after the lease',
    async run(bench) {
      const { dispatcher } = await bench.startAll({ scheduler: { failpoints: 'scheduler.expired=kill' } })
      await bench.create({ path: '/one', answers: [{ does: 'hang' }, { status: 200 }] })
      await called(bench, 1)
      await dispatcher.stop('SIGKILL')
      await bench.start('dispatcher')
      const doomed = bench.services.find(({ name }) => name === 'scheduler')
      bench.demand((await doomed?.ended) === 'SIGKILL', 'The scheduler was not killed.')
      await bench.start('scheduler')
      await untilInState(bench, ['success'], 1, 60_000)
      await demandHits(bench, 2)
      return { repeatsPerTask: 1 }
    },
  },
]
