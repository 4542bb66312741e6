import { afterEach, expect, it } from 'vitest'
import { openRegistry } from './metrics/registry.ts'
import { type OperatorPort, openOperatorPort } from './operator-port.ts'

const opened: OperatorPort[] = []
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})

async function open(...roles: string[]) {
  const operators = await openOperatorPort(
    { host: '127.0.0.1', port: 0 },
    roles,
    openRegistry(String(roles[0])),
    new Set(),
  )
  opened.push(operators)
  const get = (path: string) => fetch(`http://127.0.0.1:${operators.port}${path}`)
  const statusOf = async (path: string) => (await get(path)).status
  return { report: operators.report, get, statusOf }
}

it('responds with 200 while all checks pass, and with 503 and the failed check otherwise', async () => {
  let databaseIsUp = true
  const checks = {
    database: async () => {
      if (!databaseIsUp) throw new Error('down')
    },
    queue: async () => {},
  }
  const { report, get, statusOf } = await open('api')
  report({ checks })
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200])
  databaseIsUp = false
  const response = await get('/readyz')
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    ready: false,
    checks: { database: 'unavailable', queue: 'ok' },
    zone_data: { version: process.versions.tz },
  })
  expect(await statusOf('/other')).toBe(404)
  const metrics = await get('/metrics')
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await metrics.text()).toMatch(/^process_cpu_seconds_total\{service="api"\} /m)
})

it('reports warnings without being unready, and none when they are unavailable', async () => {
  let warnings = async () => ['fsync is off']
  const { report, get } = await open('api')
  report({ checks: {}, warnings: () => warnings() })
  const response = await get('/readyz')
  expect([response.status, await response.json()]).toMatchObject([200, { ready: true, warnings: ['fsync is off'] }])
  warnings = () => Promise.reject(new Error('away'))
  expect(await (await get('/readyz')).json()).toMatchObject({ ready: true, warnings: [] })
})

it('shows only whether it is ready to callers without the token, if there is one', async () => {
  const token = 'a token of operators'
  const operators = await openOperatorPort(
    { host: '127.0.0.1', port: 0, token },
    ['api'],
    openRegistry('api'),
    new Set(),
  )
  opened.push(operators)
  operators.report({ checks: { database: async () => {} }, about: { rules: ['10.0.0.0/8'] } })
  const get = (path: string, authorization = '') =>
    fetch(`http://127.0.0.1:${operators.port}${path}`, { headers: { authorization } })
  for (const authorization of ['', 'Bearer another', `Basic ${token}`, token]) {
    const refused = await get('/metrics', authorization)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(await refused.text()).not.toContain('process_cpu')
    expect(await (await get('/readyz', authorization)).json()).toEqual({ ready: true })
    expect((await get('/healthz', authorization)).status).toBe(200)
  }
  expect(await (await get('/metrics', `Bearer ${token}`)).text()).toContain('process_cpu')
  expect(await (await get('/readyz', `Bearer ${token}`)).json()).toMatchObject({
    checks: { database: 'ok' },
    rules: ['10.0.0.0/8'],
  })
})

it('is healthy and ready once each role has reported', async () => {
  const { report, statusOf } = await open('api', 'scheduler')
  report({ checks: {} })
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([503, 503])
  report({ checks: {} })
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200])
})

it('joins the reports of all roles: unavailable for one is unavailable, and each warning appears once', async () => {
  const { report, get } = await open('api', 'scheduler', 'dispatcher')
  const up = async () => {}
  const away = () => Promise.reject(new Error('down'))
  const warnings = async () => ['fsync is off']
  report({ checks: { database: up, queue: away }, warnings })
  report({ checks: { database: away, queue: up }, warnings })
  report({ checks: { database: up, queue: up }, about: { egress: { proxy: null } } })
  const response = await get('/readyz')
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    ready: false,
    checks: { database: 'unavailable', queue: 'unavailable' },
    warnings: ['fsync is off'],
    egress: { proxy: null },
  })
})
