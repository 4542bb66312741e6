import { interleave } from '../measure/interleave.ts'
import { measured, ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { promotedSide, withoutRedisSide } from '../sides/belfry.ts'
import { belfryLag } from '../sides/lag.ts'
import type { Benchmark } from './benchmark.ts'

const race = { concurrency: 200, count: 16_000 }
const lag = { perSecond: 1_000, seconds: 5, warmUpSeconds: 1, concurrency: 200 }

/** Belfry without a Redis against Belfry with one: dispatches, and lateness with one and with three dispatchers. */
export const withoutRedis: Benchmark = {
  name: 'without-redis',
  title: 'Without a Redis against with one',
  async run(lab, { rounds }) {
    const [without, withOne] = [withoutRedisSide(lab), promotedSide(lab)]
    const samples = await interleave(
      {
        without: () => without(race),
        with: () => withOne(race),
      },
      rounds,
    )
    const lags = await interleave(
      {
        one: () => belfryLag(lab, lag, { redisUrl: null }),
        three: () => belfryLag(lab, lag, { redisUrl: null, dispatchers: 3 }),
      },
      rounds,
    )
    const p99 = (dispatchers: 'one' | 'three') => lags[dispatchers].map(lateness => lateness.p99)
    return {
      rounds: { ...samples, ...lags },
      figures: [
        {
          key: 'dispatch_no_redis_vs_redis',
          title: 'dispatches a second without a Redis / with one, 200 at once',
          ...ratioOf(rates(samples.without), rates(samples.with)),
          limit: { atLeast: 1 },
        },
        {
          key: 'dispatch_cpu_no_redis_vs_redis',
          title: 'CPU of a dispatch over node, PostgreSQL and Redis without a Redis / with one',
          ...ratioOf(samples.without.map(totalCpuUs), samples.with.map(totalCpuUs)),
          limit: { atMost: 1 },
        },
        {
          key: 'lag_p99_1000_no_redis_ms',
          title: 'from the due time to the arrival at 1,000 a second without a Redis, 99 of 100 calls',
          unit: 'ms',
          ...measured(p99('one')),
          limit: { atMost: 25 },
        },
        {
          key: 'lag_p99_1000_no_redis_three_ms',
          title: 'the same with three dispatchers',
          unit: 'ms',
          ...measured(p99('three')),
          limit: { atMost: 25 },
        },
      ],
    }
  },
}
