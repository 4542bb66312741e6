import type { Benchmark } from '../benchmark.ts'
import type { Database } from '../lab/database.ts'
import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates, type Sample, totalCpuUs } from '../measure/window.ts'
import { belfryCreates, rawCreates } from '../sides/create.ts'

const requests = 15_000

/** Races creates through the API against a hand-written server with the same writes and checks. */
export const create: Benchmark = {
  name: 'create',
  title: 'Creates against raw node:http, 64 connections',
  async run(lab, { rounds }) {
    const withDatabase = (run: (database: Database) => Promise<Sample>) => async () => {
      const database = await lab.freshDatabase()
      try {
        return await run(database)
      } finally {
        await database.close()
      }
    }
    const samples = await interleave(
      {
        belfry: withDatabase(database => belfryCreates(lab, database, requests)),
        raw: withDatabase(database => rawCreates(lab, database, requests)),
        keyed: withDatabase(database => belfryCreates(lab, database, requests, { isKeyed: true })),
      },
      rounds,
    )
    return {
      rounds: samples,
      figures: [
        {
          key: 'create_vs_raw',
          title: 'creates a second / node:http with the same writes and checks',
          ...ratioOf(rates(samples.belfry), rates(samples.raw)),
          limit: { atLeast: 0.8 },
        },
        {
          key: 'create_cpu_vs_raw',
          title: 'CPU of a create over Node and PostgreSQL / that of the raw server',
          ...ratioOf(samples.belfry.map(totalCpuUs), samples.raw.map(totalCpuUs)),
        },
        {
          key: 'create_keyed_vs_unkeyed',
          title: 'creates a second with an Idempotency-Key each / without',
          ...ratioOf(rates(samples.keyed), rates(samples.belfry)),
        },
      ],
    }
  },
}
