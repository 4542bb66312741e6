import type { Benchmark } from '../benchmark.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { measured, ratioOf } from '../measure/statistics.ts'
import { belfryLag, bullmqLag } from '../sides/lag.ts'

// The default of Redis. An idle worker learns of a delayed job at the next of these ticks.
const defaultHz = 10

/** Measures how late calls start at 1,000 a second, and compares that with BullMQ's own delayed jobs. */
export const lag: Benchmark = {
  name: 'lag',
  title: 'Lateness at 1,000 tasks a second',
  async run(lab, { rounds }) {
    const samples = await withHz(lab, defaultHz, () =>
      interleave({ belfry: () => belfryLag(lab), bullmq: () => bullmqLag(lab) }, rounds),
    )
    const { belfry, bullmq } = samples
    const title = 'the same, 99 of 100 calls'
    const p99 = (side: typeof belfry) => side.map(lateness => lateness.p99)
    return {
      rounds: samples,
      notes: [`Redis ran with its default hz of ${defaultHz}: it checks waiting clients ${defaultHz} times a second.`],
      figures: [
        {
          key: 'lag_p50_1000_ms',
          title: 'from the due time to the arrival at the target, median',
          unit: 'ms',
          ...measured(belfry.map(({ p50 }) => p50)),
        },
        { key: 'lag_p99_1000_ms', title, unit: 'ms', ...measured(p99(belfry)), limit: { atMost: 25 } },
        {
          key: 'lag_p999_1000_ms',
          title: 'the same, 999 of 1000 calls',
          unit: 'ms',
          ...measured(belfry.map(({ p999 }) => p999)),
        },
        {
          key: 'lag_p99_vs_bullmq',
          title: "the 99th percentile / that of BullMQ's own delayed jobs",
          ...ratioOf(p99(belfry), p99(bullmq)),
          limit: { atMost: 0.25 },
        },
      ],
    }
  },
}

async function withHz<T>({ redis: { client } }: Lab, hz: number, run: () => Promise<T>): Promise<T> {
  const [, before = ''] = (await client.config('GET', 'hz')) as string[]
  await client.config('SET', 'hz', hz)
  try {
    return await run()
  } finally {
    await client.config('SET', 'hz', before)
  }
}
