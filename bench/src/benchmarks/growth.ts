import type { Benchmark } from '../benchmark.ts'
import { type FilledPostgres, few, many, type Stored, startFilledPostgres } from '../lab/filled-data.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { totalCpuUs } from '../measure/window.ts'
import { promotedSide } from '../sides/belfry.ts'
import { belfryCreates } from '../sides/create.ts'

const counts = { dispatches: 5_000, creates: 6_000 }

/** Compares the CPU of a dispatch and of a create in a large database with that in a small one. */
export const growth: Benchmark = {
  name: 'growth',
  title: `With ${describe(many)} stored against ${describe(few)}`,
  async run(lab, { rounds }) {
    const filled = await startFilledPostgres()
    try {
      const sides = { few: () => measure(lab, filled, 'openFew'), many: () => measure(lab, filled, 'openMany') }
      const samples = await interleave(sides, rounds)
      const cpu = (side: 'few' | 'many', what: 'dispatch' | 'create') =>
        samples[side].map(sample => totalCpuUs(sample[what]))
      return {
        rounds: samples,
        figures: [
          {
            key: 'growth_dispatch_cpu',
            title: 'CPU of a dispatch over Node, PostgreSQL and Redis, large / small database',
            ...ratioOf(cpu('many', 'dispatch'), cpu('few', 'dispatch')),
            limit: { atMost: 1.15 },
          },
          {
            key: 'growth_create_cpu',
            title: 'CPU of a create over Node and PostgreSQL, large / small database',
            ...ratioOf(cpu('many', 'create'), cpu('few', 'create')),
            limit: { atMost: 1.15 },
          },
        ],
      }
    } finally {
      await filled.postgres.stop()
    }
  },
}

async function measure(lab: Lab, filled: FilledPostgres, open: 'openFew' | 'openMany') {
  const database = await filled[open]()
  const filledLab: Lab = {
    ...lab,
    postgres: filled.postgres,
    async freshDatabase() {
      await lab.redis.client.flushall()
      return { ...database, close: async () => {} }
    },
  }
  try {
    return {
      dispatch: await promotedSide(filledLab)({ concurrency: 200, count: counts.dispatches }),
      create: await belfryCreates(filledLab, database, counts.creates),
    }
  } finally {
    await database.close()
  }
}

function describe({ tasks, runs }: Stored): string {
  return `${runs.toLocaleString('en')} runs and ${tasks.toLocaleString('en')} tasks`
}
