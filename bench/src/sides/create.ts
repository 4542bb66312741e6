import { freePort } from '@belfry/embedded'
import type { RawCreateOptions } from '../baselines/raw-create.ts'
import { createApiKey } from '../lab/api-caller.ts'
import { startBelfry } from '../lab/belfry.ts'
import { createCounter } from '../lab/counter.ts'
import type { Database } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { waitFor } from '../lab/wait-for.ts'
import type { LoadOptions } from '../load/main.ts'
import { numberMark } from '../load/number-mark.ts'
import { measureWindow, type Sample } from '../measure/window.ts'

const connections = 64
const path = '/api/v1/scheduler/tasks'
const yearMs = 365 * 24 * 3_600_000

/**
 * Creates through Belfry's API, for a year later: nothing but the database has to do with them.
 * @param options.isKeyed - Whether each request has an `Idempotency-Key` of its own. Default false.
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
    return await measureCreates(
      lab,
      database,
      { port: Number(new URL(belfry.apiUrl).port), key, requests, ...options },
      belfry.pids('api'),
    )
  } finally {
    await belfry.stop()
  }
}

/** The same through a server written by hand. */
export async function rawCreates(lab: Lab, database: Database, requests: number): Promise<Sample> {
  const account = await startBelfry(lab, database, { services: ['api'] })
  const key = await createApiKey(account.apiUrl)
  await account.stop()
  const port = await freePort()
  const argument: RawCreateOptions = { databaseUrl: database.url, port }
  const server = await lab.startProgram('raw-create', argument)
  try {
    return await measureCreates(lab, database, { port, key, requests }, [server.pid])
  } finally {
    await server.stop()
  }
}

async function measureCreates(
  lab: Lab,
  { pool }: Database,
  { port, key, requests, isKeyed = false }: { port: number; key: string; requests: number; isKeyed?: boolean },
  server: number[],
): Promise<Sample> {
  const stored = async () => (await pool.query<{ n: number }>('SELECT count(*)::int AS n FROM tasks')).rows[0]?.n ?? 0
  const before = await stored()
  const argument: LoadOptions = {
    port,
    connections,
    requests,
    request: requestText(key, lab.target.url(), isKeyed),
    status: 201,
  }
  const load = await lab.startProgram('load', argument)
  const groups = { node: server, postgres: [lab.servers.postgres.pid], outside: [load.pid] }
  const counter = createCounter(load.channel)
  const measuring = measureWindow(counter, requests, groups)
  load.channel.send('go')
  try {
    const sample = await measuring
    await counter.reached(requests)
    await waitFor(`${requests} tasks`, async () => (await stored()) === before + requests)
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
    'Host: bench',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Api-Key: ${key}`,
    ...(isKeyed ? [`Idempotency-Key: bench-${numberMark}`] : []),
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
