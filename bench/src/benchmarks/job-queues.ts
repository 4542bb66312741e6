import type { Benchmark } from '../benchmark.ts'
import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates } from '../measure/window.ts'
import { promotedSide } from '../sides/belfry.ts'
import { bullmqSide } from '../sides/bullmq.ts'
import { graphileWorkerSide, pgBossSide } from '../sides/durable-queue.ts'

const counts = { belfry: 14_000, bullmq: 8_000, pgBoss: 5_000, graphile: 8_000 }

/** Races Belfry against job queues that do the same durable job, with the same number of calls in parallel. */
export function jobQueues(concurrency: number): Benchmark {
  return {
    name: `job-queues-${concurrency}`,
    title: `Dispatches against job queues, ${concurrency} calls in parallel`,
    async run(lab, { rounds }) {
      const [belfry, bullmq] = [promotedSide(lab), bullmqSide(lab)]
      const [pgBoss, graphile] = [pgBossSide(lab), graphileWorkerSide(lab)]
      const samples = await interleave(
        {
          belfry: () => belfry({ concurrency, count: counts.belfry }),
          bullmq: () => bullmq({ concurrency, count: counts.bullmq }),
          pgBoss: () => pgBoss({ concurrency, count: counts.pgBoss }),
          graphile: () => graphile({ concurrency, count: counts.graphile }),
        },
        rounds,
      )
      const figure = (key: string, queue: string, side: keyof typeof samples) => ({
        key: `dispatch_vs_${key}_${concurrency}`,
        title: `durable dispatches a second / ${queue} with the same job, ${concurrency} in parallel`,
        ...ratioOf(rates(samples.belfry), rates(samples[side])),
      })
      return {
        rounds: samples,
        figures: [
          figure('bullmq', 'BullMQ', 'bullmq'),
          { ...figure('pgboss', 'pg-boss', 'pgBoss'), limit: { atLeast: 2.5 } },
          { ...figure('graphile', 'graphile-worker', 'graphile'), limit: { atLeast: 1.7 } },
        ],
      }
    },
  }
}
