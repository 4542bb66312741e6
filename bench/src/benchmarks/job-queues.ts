import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates } from '../measure/window.ts'
import { promotedSide } from '../sides/belfry.ts'
import { floorSide } from '../sides/floor.ts'
import { graphileWorkerSide } from '../sides/graphile-worker.ts'
import { pgBossSide } from '../sides/pg-boss.ts'
import type { Benchmark } from './benchmark.ts'

const counts = { belfry: 14_000, axios: 6_000, pgBoss: 5_000, graphile: 8_000 }

/** Belfry against what people would pick instead, with so many calls at once on all sides. */
export function jobQueues(concurrency: number): Benchmark {
  return {
    name: `job-queues-${concurrency}`,
    title: `Dispatches against job queues, ${concurrency} calls at once`,
    async run(lab, { rounds }) {
      const sides = { belfry: promotedSide(lab), axios: floorSide(lab, 'axios') }
      const queues = { pgBoss: pgBossSide(lab), graphile: graphileWorkerSide(lab) }
      const samples = await interleave(
        {
          belfry: () => sides.belfry({ concurrency, count: counts.belfry }),
          axios: () => sides.axios({ concurrency, count: counts.axios }),
          pgBoss: () => queues.pgBoss({ concurrency, count: counts.pgBoss }),
          graphile: () => queues.graphile({ concurrency, count: counts.graphile }),
        },
        rounds,
      )
      const ours = rates(samples.belfry)
      const at = `${concurrency} at once`
      return {
        rounds: samples,
        figures: [
          {
            key: `dispatch_vs_axios_${concurrency}`,
            title: `durable dispatches a second / BullMQ + axios that stores nothing, ${at}`,
            ...ratioOf(ours, rates(samples.axios)),
          },
          {
            key: `dispatch_vs_pgboss_${concurrency}`,
            title: `durable dispatches a second / pg-boss with the same job, ${at}`,
            ...ratioOf(ours, rates(samples.pgBoss)),
            limit: { atLeast: 2.5 },
          },
          {
            key: `dispatch_vs_graphile_${concurrency}`,
            title: `durable dispatches a second / graphile-worker with the same job, ${at}`,
            ...ratioOf(ours, rates(samples.graphile)),
            limit: { atLeast: 1.7 },
          },
        ],
      }
    },
  }
}
