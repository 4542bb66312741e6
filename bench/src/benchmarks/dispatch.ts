import type { Benchmark } from '../benchmark.ts'
import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { promotedSide, singleSide } from '../sides/belfry.ts'
import { floorSide } from '../sides/bullmq.ts'

const counts = { promoted: 16_000, single: 10_000, floor: 12_000 }

/** Races Belfry against the floor, with the same number of calls in parallel. */
export function dispatch(concurrency: number): Benchmark {
  return {
    name: `dispatch-${concurrency}`,
    title: `Dispatches against the floor, ${concurrency} calls in parallel`,
    async run(lab, { rounds }) {
      const [floor, promoted, single] = [floorSide(lab), promotedSide(lab), singleSide(lab)]
      const samples = await interleave(
        {
          floor: () => floor({ concurrency, count: counts.floor }),
          promoted: () => promoted({ concurrency, count: counts.promoted }),
          single: () => single({ concurrency, count: counts.single }),
        },
        rounds,
      )
      const parallel = `${concurrency} in parallel`
      return {
        rounds: samples,
        figures: [
          {
            key: `dispatch_vs_floor_${concurrency}`,
            title: `durable dispatches a second / BullMQ + undici that stores nothing, ${parallel}`,
            ...ratioOf(rates(samples.promoted), rates(samples.floor)),
            limit: { atLeast: 1.2, aim: 1.6 },
          },
          {
            key: `dispatch_single_vs_floor_${concurrency}`,
            title: `the same with a job for each task, ${parallel}`,
            ...ratioOf(rates(samples.single), rates(samples.floor)),
            limit: { atLeast: 0.6, aim: 0.75 },
          },
          {
            key: `dispatch_cpu_vs_floor_${concurrency}`,
            title: `CPU of a dispatch over Node, PostgreSQL and Redis / that of the floor, ${parallel}`,
            ...ratioOf(samples.promoted.map(totalCpuUs), samples.floor.map(totalCpuUs)),
            limit: { atMost: 0.85 },
          },
        ],
      }
    },
  }
}
