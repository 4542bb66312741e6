import type { Benchmark } from '../benchmark.ts'
import type { Lab } from '../lab/lab.ts'
import { interleave } from '../measure/interleave.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates, type Sample, totalCpuUs } from '../measure/window.ts'
import { belfryCreates } from '../sides/create.ts'

const requests = 25_000

/** Races messages that are published through the QStash interface against the same tasks of the native API. */
export const qstash: Benchmark = {
  name: 'qstash',
  title: 'Messages of the QStash interface against tasks of the API, 64 connections',
  async run(lab, { rounds }) {
    const samples = await interleave({ messages: () => measure(lab, true), tasks: () => measure(lab, false) }, rounds)
    return {
      rounds: samples,
      figures: [
        {
          key: 'qstash_create_vs_native',
          title: 'time of a publish / time of a create through the API',
          ...ratioOf(rates(samples.tasks), rates(samples.messages)),
          limit: { atMost: 1.25 },
        },
        {
          key: 'qstash_create_cpu_vs_native',
          title: 'CPU of a publish over Node and PostgreSQL / that of a create',
          ...ratioOf(samples.messages.map(totalCpuUs), samples.tasks.map(totalCpuUs)),
          limit: { atMost: 1.25 },
        },
      ],
    }
  },
}

async function measure(lab: Lab, isMessage: boolean): Promise<Sample> {
  const database = await lab.freshDatabase()
  try {
    return await belfryCreates(lab, database, requests, { isMessage })
  } finally {
    await database.close()
  }
}
