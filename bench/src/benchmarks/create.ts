import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Benchmark } from '../benchmark.ts'
import { createApiKey, startBelfry } from '../lab/belfry.ts'
import { numberMark } from '../lab/child-side.ts'
import { createCounter } from '../lab/counter.ts'
import { type Database, readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { interleave, ratioOf } from '../measure/statistics.ts'
import { measureWindow, rates, type Sample, totalCpuUs } from '../measure/window.ts'
import type { LoadOptions } from '../programs/load.ts'
import type { RawCreateOptions } from '../programs/raw-create.ts'

const requests = 15_000
const connections = 64
const path = '/api/v1/scheduler/tasks'
const yearMs = 365 * 24 * 3_600_000

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
        belfry: withDatabase(database => belfryCreates(lab, database, { requests })),
        raw: withDatabase(database => rawCreates(lab, database)),
        keyed: withDatabase(database => belfryCreates(lab, database, { requests, isKeyed: true })),
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

type Load = { requests: number; isKeyed?: boolean }

/** Creates tasks through Belfry's API. They are due in a year, so only the database does work for them. */
export async function belfryCreates(lab: Lab, database: Database, load: Load): Promise<Sample> {
  const belfry = await startBelfry(lab, database, { services: ['api'] })
  try {
    const key = await createApiKey(belfry.apiUrl)
    const port = Number(new URL(belfry.apiUrl).port)
    return await measureCreates(lab, database, load, { port, key, pids: belfry.pids('api') })
  } finally {
    await belfry.stop()
  }
}

async function rawCreates(lab: Lab, database: Database): Promise<Sample> {
  const account = await startBelfry(lab, database, { services: ['api'] })
  const key = await createApiKey(account.apiUrl)
  await account.stop()
  const port = await freePort()
  const server = await lab.startProgram('raw-create', { databaseUrl: database.url, port } satisfies RawCreateOptions)
  try {
    return await measureCreates(lab, database, { requests }, { port, key, pids: [server.pid] })
  } finally {
    await server.stop()
  }
}

async function measureCreates(
  lab: Lab,
  database: Database,
  { requests, isKeyed = false }: Load,
  { port, key, pids }: { port: number; key: string; pids: number[] },
): Promise<Sample> {
  const stored = async () => (await readRow<{ n: number }>(database, 'SELECT count(*)::int AS n FROM tasks')).n
  const before = await stored()
  const request = requestText(key, lab.target.url(), isKeyed)
  const argument: LoadOptions = { port, connections, requests, request, status: 201 }
  const load = await lab.startProgram('load', argument)
  const counter = createCounter(load.channel)
  const groups = { node: pids, postgres: [lab.postgres.pid], outside: [load.pid] }
  const measuring = measureWindow(counter, requests, groups)
  load.channel.send('go')
  try {
    const sample = await measuring
    await counter.reached(requests)
    await waitFor(stored, count => count === before + requests, 60_000)
    return sample
  } finally {
    await load.stop()
  }
}

function requestText(key: string, url: string, isKeyed: boolean): string {
  const executeAt = new Date(Date.now() + yearMs).toISOString()
  const task = { name: 'Bench', url, method: 'POST', execute_at: executeAt, payload: JSON.parse(payload) as unknown }
  const body = JSON.stringify(task)
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Api-Key: ${key}`,
    ...(isKeyed ? [`Idempotency-Key: bench-${numberMark}`] : []),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
