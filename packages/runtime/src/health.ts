import { createServer, type Server } from 'node:http'
import { type ZoneData, zoneData } from './zone-data.ts'

/** The things that a process needs to do its work, each with a question that rejects when it is away. */
export type HealthChecks = Record<string, () => Promise<unknown>>

export type Readiness = { ready: boolean; checks: Record<string, 'ok' | 'unavailable'>; zone_data: ZoneData }

const checkTimeoutMs = 2000

/**
 * Asks every check at once; one that does not answer within 2 s counts as away.
 * @param optional - Checks that are told but do not make the process unready.
 */
export async function readiness(checks: HealthChecks, optional: readonly string[] = []): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await answers(check)] as const),
  )
  return {
    ready: results.every(([name, ok]) => ok || optional.includes(name)),
    checks: Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'unavailable'])),
    zone_data: zoneData(new Date()),
  }
}

/**
 * Serves `GET /healthz` and `GET /readyz` for a process that has no HTTP interface of its own.
 * @param about - What else `/readyz` tells of the process. Default: nothing.
 */
export async function serveHealth(port: number, checks: HealthChecks, about: object = {}): Promise<Server> {
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/healthz') return send(200, { status: 'ok' })
    if (request.url !== '/readyz') return send(404, { status: 'not found' })
    const state = await readiness(checks)
    send(state.ready ? 200 : 503, { ...state, ...about })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  })
  return server
}

async function answers(check: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('No answer in time.')), checkTimeoutMs)
  })
  return Promise.race([check(), late])
    .then(
      () => true,
      () => false,
    )
    .finally(() => clearTimeout(timer))
}
