import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { measured, ratioOf } from '../measure/statistics.ts'
import { belfryLag, floorLag } from '../sides/lag.ts'
import type { Benchmark } from './benchmark.ts'

const options = { perSecond: 1_000, seconds: 5, warmUpSeconds: 1, concurrency: 200 }

// A worker that waits for a delayed job hears of it at the next tick of an idle Redis.
const defaultTicks = 10

/** How late calls start, at 1,000 a second; BullMQ's own delayed jobs in the same run. */
export const lag: Benchmark = {
  name: 'lag',
  title: 'Lateness at 1,000 tasks a second',
  async run(lab, { rounds }) {
    const samples = await withRedisTicks(lab, defaultTicks, () =>
      interleave({ belfry: () => belfryLag(lab, options), floor: () => floorLag(lab, options) }, rounds),
    )
    const [ours, theirs] = [samples.belfry, samples.floor]
    const p99 = (side: typeof ours) => side.map(lateness => lateness.p99)
    return {
      rounds: samples,
      notes: [
        `Redis looks ${defaultTicks} times a second for clients that waited long enough, which is its default (hz).`,
      ],
      figures: [
        {
          key: 'lag_p50_1000_ms',
          title: 'from the due time to the arrival at the target, median',
          unit: 'ms',
          ...measured(ours.map(({ p50 }) => p50)),
        },
        {
          key: 'lag_p99_1000_ms',
          title: 'the same, 99 of 100 calls',
          unit: 'ms',
          ...measured(p99(ours)),
          limit: { atMost: 25 },
        },
        {
          key: 'lag_p999_1000_ms',
          title: 'the same, 999 of 1000 calls',
          unit: 'ms',
          ...measured(ours.map(({ p999 }) => p999)),
        },
        {
          key: 'lag_p99_vs_bullmq',
          title: "the 99th percentile / that of BullMQ's own delayed jobs",
          ...ratioOf(p99(ours), p99(theirs)),
          limit: { atMost: 0.25 },
        },
      ],
    }
  },
}

async function withRedisTicks<T>({ servers: { redis } }: Lab, ticks: number, run: () => Promise<T>): Promise<T> {
  const [, before = ''] = (await redis.config('GET', 'hz')) as string[]
  await redis.config('SET', 'hz', ticks)
  try {
    return await run()
  } finally {
    await redis.config('SET', 'hz', before)
  }
}
