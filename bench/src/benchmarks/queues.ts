import type { Benchmark } from '../benchmark.ts'
import { interleave } from '../measure/interleave.ts'
import { measured, ratioOf } from '../measure/statistics.ts'
import { rates } from '../measure/window.ts'
import { queueSide, withoutRedisSide } from '../sides/belfry.ts'

const concurrency = 200
const counts = { none: 12_000, unlimited: 12_000, limited: 6_000 }

/** Compares tasks without a queue, in a queue without limits, and in a queue with 100 calls at a time. */
export const queues: Benchmark = {
  name: 'queues',
  title: 'Tasks in queues against tasks without one',
  async run(lab, { rounds }) {
    const [none, unlimited, limited] = [withoutRedisSide(lab), queueSide(lab, null), queueSide(lab, 100)]
    const samples = await interleave(
      {
        none: () => none({ concurrency, count: counts.none }),
        unlimited: () => unlimited({ concurrency, count: counts.unlimited }),
        limited: () => limited({ concurrency, count: counts.limited }),
      },
      rounds,
    )
    return {
      rounds: samples,
      figures: [
        {
          key: 'dispatch_in_unlimited_queue',
          title: 'dispatches a second in a queue without limits / without a queue',
          ...ratioOf(rates(samples.unlimited), rates(samples.none)),
          limit: { atLeast: 0.8 },
        },
        {
          key: 'dispatch_in_limited_queue_per_second',
          title: 'dispatches a second in a queue with max_concurrent 100',
          ...measured(rates(samples.limited)),
          unit: '/s',
          limit: { atLeast: 1_500 },
        },
      ],
    }
  },
}
