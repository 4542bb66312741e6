import { createServer, type Server } from 'node:http'
import type { Meter } from './metrics/open-meter.ts'
import { withinMs } from './within-ms.ts'
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

/** What a process tells about itself beside whether it lives. */
export type Telling = {
  metrics: Pick<Meter, 'text' | 'contentType'>
  /** Checks that are told but do not make the process unready. Default: none. */
  optional?: readonly string[]
  /** What else `/readyz` tells of the process. Default: nothing. */
  about?: object
}

/** Serves `GET /healthz`, `GET /readyz` and `GET /metrics`, on a port that only operators reach. */
export async function serveHealth(port: number, checks: HealthChecks, telling: Telling): Promise<Server> {
  const { metrics, optional, about } = telling
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const [path] = (request.url ?? '').split('?', 1)
    if (path === '/healthz') return send(200, { status: 'ok' })
    if (path === '/metrics') {
      const text = await metrics.text().catch(() => null)
      if (text === null) return send(500, { status: 'the metrics cannot be read' })
      return response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
    }
    if (path !== '/readyz') return send(404, { status: 'not found' })
    const state = await readiness(checks, optional)
    send(state.ready ? 200 : 503, { ...state, ...about })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, resolve)
  })
  return server
}

async function answers(check: () => Promise<unknown>): Promise<boolean> {
  return withinMs(checkTimeoutMs, check).then(
    () => true,
    () => false,
  )
}
