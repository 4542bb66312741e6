import { type FilledPostgres, few, many, type Stored, startFilledPostgres } from '../lab/filled-data.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { totalCpuUs } from '../measure/window.ts'
import { promotedSide } from '../sides/belfry.ts'
import { belfryCreates } from '../sides/create.ts'
import type { Benchmark } from './benchmark.ts'

const counts = { dispatches: 5_000, creates: 6_000 }

/** What a dispatch and a create cost when much is stored already, against little. */
export const growth: Benchmark = {
  name: 'growth',
  title: `With ${describe(many)} stored against ${describe(few)}`,
  async run(lab, { rounds }) {
    const filled = await startFilledPostgres()
    try {
      const sides = { few: () => sample(lab, filled, 'openFew'), many: () => sample(lab, filled, 'openMany') }
      const samples = await interleave(sides, rounds)
      const ratio = (what: 'dispatch' | 'create') => {
        const [much, little] = [samples.many, samples.few].map(side => side.map(sample => totalCpuUs(sample[what])))
        return ratioOf(much ?? [], little ?? [])
      }
      return {
        rounds: samples,
        figures: [
          {
            key: 'growth_dispatch_cpu',
            title: 'CPU of a dispatch over node, PostgreSQL and Redis, much / little',
            ...ratio('dispatch'),
            limit: { atMost: 1.15 },
          },
          {
            key: 'growth_create_cpu',
            title: 'CPU of a create over node and PostgreSQL, much / little',
            ...ratio('create'),
            limit: { atMost: 1.15 },
          },
        ],
      }
    } finally {
      await filled.postgres.stop()
    }
  },
}

async function sample(lab: Lab, filled: FilledPostgres, open: 'openFew' | 'openMany') {
  const database = await filled[open]()
  const inIt: Lab = {
    ...lab,
    servers: { ...lab.servers, postgres: filled.postgres },
    async freshDatabase() {
      await lab.servers.redis.flushall()
      return { ...database, close: async () => {} }
    },
  }
  try {
    return {
      dispatch: await promotedSide(inIt)({ concurrency: 200, count: counts.dispatches }),
      create: await belfryCreates(inIt, database, counts.creates),
    }
  } finally {
    await database.close()
  }
}

function describe({ tasks, runs }: Stored): string {
  return `${runs.toLocaleString('en')} runs and ${tasks.toLocaleString('en')} tasks`
}
