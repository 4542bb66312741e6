import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Benchmark } from '../benchmark.ts'
import { startBelfry } from '../lab/belfry.ts'
import { numberMark } from '../lab/child-side.ts'
import { createCounter } from '../lab/counter.ts'
import { apiKey, type Database, readValue } from '../lab/database.ts'
import { inFreshDatabase, type Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { interleave, ratioOf } from '../measure/statistics.ts'
import { measureWindow, rates, type Sample, totalCpuUs } from '../measure/window.ts'
import type { LoadOptions } from '../programs/load.ts'
import type { RawCreateOptions } from '../programs/raw-create.ts'

// V8 compiles code again while a process is young: of 15,000 creates most are before that has settled.
const requests = 60_000
const connections = 64
const path = '/api/v1/scheduler/tasks'
const yearMs = 365 * 24 * 3_600_000

/** Races creates through the API against a hand-written server with the same writes and checks. */
export const create: Benchmark = {
  name: 'create',
  title: 'Creates against raw node:http, 64 connections',
  async run(lab, { rounds }) {
    const samples = await interleave(
      {
        belfry: inFreshDatabase(lab, database => belfryCreates(lab, database, { requests })),
        raw: inFreshDatabase(lab, database => rawCreates(lab, database)),
        keyed: inFreshDatabase(lab, database => belfryCreates(lab, database, { requests, isKeyed: true })),
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
  await using belfry = await startBelfry(lab, database, { services: ['api'] })
  return await measureCreates(lab, database, load, belfry)
}

async function rawCreates(lab: Lab, database: Database): Promise<Sample> {
  const port = await freePort()
  const options: RawCreateOptions = { databaseUrl: database.url, port }
  await using server = await lab.startProgram('raw-create', options)
  return await measureCreates(lab, database, { requests }, { port, pids: [server.pid] })
}

async function measureCreates(
  lab: Lab,
  database: Database,
  { requests, isKeyed = false }: Load,
  { port, pids }: { port: number; pids: number[] },
): Promise<Sample> {
  const stored = () => readValue<number>(database, 'SELECT count(*)::int FROM tasks')
  const before = await stored()
  const request = requestText(lab.target.url(), isKeyed)
  const argument: LoadOptions = { port, connections, requests, request, status: 201 }
  await using load = await lab.startProgram('load', argument)
  const counter = createCounter(load.channel)
  const measuring = measureWindow(counter, requests, {
    node: pids,
    postgres: [lab.postgres.pid],
    outside: [load.pid],
  })
  load.channel.send('go')
  const sample = await measuring
  await counter.reached(requests)
  await waitFor(stored, count => count === before + requests, 60_000)
  return sample
}

function requestText(url: string, isKeyed: boolean): string {
  const executeAt = new Date(Date.now() + yearMs).toISOString()
  const task = { name: 'Bench', url, method: 'POST', execute_at: executeAt, payload: JSON.parse(payload) as unknown }
  const body = JSON.stringify(task)
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Api-Key: ${apiKey}`,
    ...(isKeyed ? [`Idempotency-Key: bench-${numberMark}`] : []),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
