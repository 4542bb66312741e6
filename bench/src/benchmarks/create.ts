import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates, totalCpuUs } from '../measure/window.ts'
import { belfryCreates, rawCreates } from '../sides/create.ts'
import type { Benchmark } from './benchmark.ts'

const requests = 15_000

/** Creates through the API against a server written by hand with the same writes and checks. */
export const create: Benchmark = {
  name: 'create',
  title: 'Creates against raw node:http, 64 connections',
  async run(lab, { rounds }) {
    const withDatabase = (side: typeof rawCreates) => async () => {
      const database = await lab.freshDatabase()
      try {
        return await side(lab, database, requests)
      } finally {
        await database.close()
      }
    }
    const keyedCreates: typeof rawCreates = (...args) => belfryCreates(...args, { isKeyed: true })
    const samples = await interleave(
      {
        belfry: withDatabase(belfryCreates),
        raw: withDatabase(rawCreates),
        keyed: withDatabase(keyedCreates),
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
          title: "CPU of a create over node and PostgreSQL / the raw server's",
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
