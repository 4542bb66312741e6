import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import { createApiKey, startBelfry } from '../lab/belfry.ts'
import { createCounter } from '../lab/counter.ts'
import { type Database, readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { numberMark } from '../lab/parent.ts'
import { payload } from '../lab/tasks.ts'
import { measureWindow, type Sample } from '../measure/window.ts'
import type { LoadOptions } from '../programs/load.ts'
import type { RawCreateOptions } from '../programs/raw-create.ts'

const connections = 64
const path = '/api/v1/scheduler/tasks'
const yearMs = 365 * 24 * 3_600_000

/**
 * Creates tasks through Belfry's API. They are due in a year, so only the database does work for them.
 * @param options.isKeyed - Whether each request has an `Idempotency-Key`. Default false.
 */
export async function belfryCreates(
  lab: Lab,
  database: Database,
  requests: number,
  options: { isKeyed?: boolean } = {},
): Promise<Sample> {
  const belfry = await startBelfry(lab, database, { services: ['api'] })
  try {
    const key = await createApiKey(belfry.apiUrl)
    const port = Number(new URL(belfry.apiUrl).port)
    return await measureCreates(lab, database, { port, key, requests, ...options }, belfry.pids('api'))
  } finally {
    await belfry.stop()
  }
}

/** Creates the same tasks through a hand-written server. */
export async function rawCreates(lab: Lab, database: Database, requests: number): Promise<Sample> {
  const account = await startBelfry(lab, database, { services: ['api'] })
  const key = await createApiKey(account.apiUrl)
  await account.stop()
  const port = await freePort()
  const server = await lab.startProgram('raw-create', { databaseUrl: database.url, port } satisfies RawCreateOptions)
  try {
    return await measureCreates(lab, database, { port, key, requests }, [server.pid])
  } finally {
    await server.stop()
  }
}

async function measureCreates(
  lab: Lab,
  database: Database,
  { port, key, requests, isKeyed = false }: { port: number; key: string; requests: number; isKeyed?: boolean },
  server: number[],
): Promise<Sample> {
  const stored = async () => (await readRow<{ n: number }>(database, 'SELECT count(*)::int AS n FROM tasks')).n
  const before = await stored()
  const request = requestText(key, lab.target.url(), isKeyed)
  const argument: LoadOptions = { port, connections, requests, request, status: 201 }
  const load = await lab.startProgram('load', argument)
  const groups = { node: server, postgres: [lab.postgres.pid], outside: [load.pid] }
  const counter = createCounter(load.channel)
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
