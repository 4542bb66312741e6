import type { Benchmark } from '../benchmark.ts'
import { interleave } from '../measure/interleave.ts'
import { measured, ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { promotedSide, withoutRedisSide } from '../sides/belfry.ts'
import { belfryLag } from '../sides/lag.ts'

const race = { concurrency: 200, count: 16_000 }

/** Races Belfry without Redis against Belfry with it, and measures lateness with one and with three dispatchers. */
export const withoutRedis: Benchmark = {
  name: 'without-redis',
  title: 'Without Redis against with it',
  async run(lab, { rounds }) {
    const [without, withOne] = [withoutRedisSide(lab), promotedSide(lab)]
    const samples = await interleave({ without: () => without(race), with: () => withOne(race) }, rounds)
    const lags = await interleave(
      {
        one: () => belfryLag(lab, { redisUrl: null }),
        three: () => belfryLag(lab, { redisUrl: null, dispatchers: 3 }),
      },
      rounds,
    )
    return {
      rounds: { ...samples, ...lags },
      figures: [
        {
          key: 'dispatch_no_redis_vs_redis',
          title: 'dispatches a second without Redis / with it, 200 in parallel',
          ...ratioOf(rates(samples.without), rates(samples.with)),
          limit: { atLeast: 1 },
        },
        {
          key: 'dispatch_cpu_no_redis_vs_redis',
          title: 'CPU of a dispatch over Node, PostgreSQL and Redis without Redis / with it',
          ...ratioOf(samples.without.map(totalCpuUs), samples.with.map(totalCpuUs)),
          limit: { atMost: 1 },
        },
        {
          key: 'lag_p99_1000_no_redis_ms',
          title: 'from the due time to the arrival at 1,000 a second without Redis, 99 of 100 calls',
          unit: 'ms',
          ...measured(lags.one.map(({ p99 }) => p99)),
          limit: { atMost: 25 },
        },
        {
          key: 'lag_p99_1000_no_redis_three_ms',
          title: 'the same with three dispatchers',
          unit: 'ms',
          ...measured(lags.three.map(({ p99 }) => p99)),
          limit: { atMost: 25 },
        },
      ],
    }
  },
}
