import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates } from '../measure/window.ts'
import { promotedSide } from '../sides/belfry.ts'
import type { Benchmark } from './benchmark.ts'

const race = { concurrency: 200, count: 20_000 }

/** What a second dispatcher brings; each of them makes 200 calls at once. */
export const twoDispatchers: Benchmark = {
  name: 'two-dispatchers',
  title: 'Two dispatchers against one, 200 calls at once in each',
  async run(lab, { rounds }) {
    const [one, two] = [promotedSide(lab, 1), promotedSide(lab, 2)]
    const samples = await interleave({ one: () => one(race), two: () => two(race) }, rounds)
    return {
      rounds: samples,
      notes: ['A second dispatcher can only bring something while the machine has cores that idle.'],
      figures: [
        {
          key: 'two_dispatchers_vs_one',
          title: 'dispatches a second of two dispatchers / of one',
          ...ratioOf(rates(samples.two), rates(samples.one)),
          limit: { atLeast: 0.95 },
        },
      ],
    }
  },
}
