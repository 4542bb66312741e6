import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { promotedSide, singleSide } from '../sides/belfry.ts'
import { floorSide } from '../sides/floor.ts'
import type { Benchmark } from './benchmark.ts'
import { dispatchInTurns } from './dispatch-in-turns.ts'

const counts = { promoted: 16_000, single: 10_000, floor: 12_000 }

/** Belfry against the floor, with so many calls at once on both sides. */
export function dispatch(concurrency: number): Benchmark {
  return {
    name: `dispatch-${concurrency}`,
    title: `Dispatches against the floor, ${concurrency} calls at once`,
    async run(lab, { rounds, minutes }) {
      const promoted = promotedSide(lab)
      const single = singleSide(lab)
      const floor = floorSide(lab, 'undici')
      const samples = await interleave(
        {
          floor: () => floor({ concurrency, count: counts.floor }),
          promoted: () => promoted({ concurrency, count: counts.promoted }),
          single: () => single({ concurrency, count: counts.single }),
        },
        rounds,
      )
      const inTurns = minutes === null ? null : await dispatchInTurns(lab, concurrency, minutes)
      const at = `${concurrency} at once`
      return {
        rounds: { ...samples, inTurns: inTurns?.rounds },
        figures: [
          {
            key: `dispatch_vs_floor_${concurrency}`,
            title: `durable dispatches a second / BullMQ + undici that stores nothing, ${at}`,
            ...ratioOf(rates(samples.promoted), rates(samples.floor)),
            limit: { atLeast: 1.2, aim: 1.6 },
          },
          {
            key: `dispatch_single_vs_floor_${concurrency}`,
            title: `the same with a job for each task, ${at}`,
            ...ratioOf(rates(samples.single), rates(samples.floor)),
            limit: { atLeast: 0.6, aim: 0.75 },
          },
          {
            key: `dispatch_cpu_vs_floor_${concurrency}`,
            title: `CPU of a dispatch over node, PostgreSQL and Redis / the floor's, ${at}`,
            ...ratioOf(samples.promoted.map(totalCpuUs), samples.floor.map(totalCpuUs)),
            limit: { atMost: 0.85 },
          },
          ...(inTurns?.figures ?? []),
        ],
      }
    },
  }
}
