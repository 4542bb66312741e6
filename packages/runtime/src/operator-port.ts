import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { type HealthChecks, type Readiness, readiness } from './health.ts'
import { type ListenAddress, listen } from './listen.ts'
import { exposeMetrics, type Registry } from './metrics/registry.ts'
import { withinMs } from './within-ms.ts'
import { zoneData } from './zone-data.ts'

/** Where operators ask, and the bearer token that they need. Null: open to all. */
export type OperatorListen = ListenAddress & { token?: string | null }

export type RoleReport = {
  checks: HealthChecks
  /** Members that `/readyz` adds for the role. Optional. */
  about?: object
  /** Warnings in `/readyz`. They do not make the process unready. Optional. */
  warnings?: () => Promise<readonly string[]>
}

/** `GET /healthz`, `GET /readyz` and `GET /metrics` of a process, on a port for operators only. */
export type OperatorPort = Awaited<ReturnType<typeof openOperatorPort>>

const findingsTimeoutMs = 2000

/**
 * @param address - Port 0 means any free port.
 * @param ports - The ports of the process, of which it becomes one.
 */
export async function openOperatorPort(
  { token = null, ...address }: OperatorListen,
  roles: readonly string[],
  metrics: Registry,
  ports: Set<number>,
) {
  const reports: RoleReport[] = []
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const [path] = (request.url ?? '').split('?', 1)
    const isOperator = token === null || hasToken(request, token)
    if (path === '/metrics') {
      if (!isOperator) {
        response.setHeader('www-authenticate', 'Bearer')
        return send(401, { status: 'METRICS_TOKEN is required' })
      }
      const exposed = await exposeMetrics(metrics, request.headers.accept).catch(() => null)
      if (exposed === null) return send(500, { status: 'the metrics are unavailable' })
      return response.writeHead(200, { 'content-type': exposed.contentType }).end(exposed.text)
    }
    if (path !== '/healthz' && path !== '/readyz') return send(404, { status: 'not found' })
    if (reports.length < roles.length) return send(503, { status: 'starting' })
    if (path === '/healthz') return send(200, { status: 'ok' })
    const [state, warnings] = await Promise.all([readinessOfAll(reports), findings(reports)])
    const status = state.ready ? 200 : 503
    if (!isOperator) return send(status, { ready: state.ready })
    const about = Object.assign({}, ...reports.map(report => report.about))
    send(status, { ...state, zone_data: zoneData(new Date()), warnings, ...about })
  })
  const port = await listen(server, address, ports)
  return {
    port,
    /** Adds the report of a role. The process can be healthy and ready once all of its roles have reported. */
    report: (report: RoleReport): void => void reports.push(report),
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

// Compares hashes, so the time does not reveal the token.
function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(headers.authorization ?? ''), hashOf(`Bearer ${token}`))
}

// Roles check the same dependencies, each over its own connections.
async function readinessOfAll(reports: readonly RoleReport[]): Promise<Readiness> {
  const states = await Promise.all(reports.map(({ checks }) => readiness(checks)))
  const names = new Set(states.flatMap(({ checks }) => Object.keys(checks)))
  const resultOf = (name: string) =>
    states.some(({ checks }) => checks[name] === 'unavailable') ? 'unavailable' : 'ok'
  return {
    ready: states.every(({ ready }) => ready),
    checks: Object.fromEntries([...names].map(name => [name, resultOf(name)])),
  }
}

// A failure to find warnings is not reported, because a check reports the unavailable dependency.
async function findings(reports: readonly RoleReport[]): Promise<string[]> {
  const read = ({ warnings = async () => [] }: RoleReport) => withinMs(findingsTimeoutMs, warnings).catch(() => [])
  return [...new Set((await Promise.all(reports.map(read))).flat())]
}
