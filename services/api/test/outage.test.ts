import { describe, expect, it } from 'vitest'
import { routes } from '../src/routes.ts'
import { aTaskBody, useApi } from './setup.ts'
import { putWireBefore, type SeverableDatabase } from './severable-database.ts'

const withoutDatabase = /openapi|docs|problems/

let wire: SeverableDatabase
const api = useApi(async databaseUrl => {
  wire = await putWireBefore(databaseUrl)
  return { DATABASE_URL: wire.url, RATE_LIMITS: 'off' } // calls every route with one session
})

describe('X-Request-Id', () => {
  it('is on every response: the caller’s when it is well formed, else a new one', async () => {
    const answers = [
      api.send('GET', '/api/v1/scheduler/tasks'),
      api.send('GET', '/nowhere'),
      api.send('POST', '/healthz'),
      api.send('GET', '/healthz'),
      api.send('PUT', '/api/v1/scheduler/tasks'),
      api.call('POST', '/api/v1/scheduler/tasks', '{'),
      api.call('POST', '/api/v1/scheduler/tasks', aTaskBody()),
    ]
    for (const { headers } of await Promise.all(answers)) expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    const named = await api.send('GET', '/nowhere', undefined, { 'X-Request-Id': 'my.request_1' })
    expect([named.headers.get('X-Request-Id'), named.body.request_id]).toEqual(['my.request_1', 'my.request_1'])
    const bad = await api.send('GET', '/nowhere', undefined, { 'X-Request-Id': 'not well formed' })
    expect(bad.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a create that waits for the database until its time has passed', () => {
  it('is answered 503, and 400 only if its time was past when it arrived', async () => {
    const { apiKey } = await api.signUp()
    const create = (path: string, body: object) => api.send('POST', path, body, { 'X-Api-Key': apiKey })
    const tasks = '/api/v1/scheduler/tasks'
    const soon = () => aTaskBody({ execute_at: new Date(Date.now() + 400).toISOString() })
    const locker = await api.ctx.pool.connect()
    try {
      await locker.query('BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE')
      const waiting = [create(tasks, soon()), create(`${tasks}/batch`, { tasks: [soon()] })]
      await locker.query('SELECT pg_sleep(1.2)')
      await locker.query('ROLLBACK')
      const [one, batch] = await Promise.all(waiting)
      expect([one?.status, one?.body.code]).toEqual([503, 'unavailable'])
      expect(batch?.body.data[0].error).toMatchObject({ status: 503, code: 'unavailable' })
    } finally {
      locker.release()
    }
    const past = aTaskBody({ execute_at: new Date(Date.now() - 1_000).toISOString() })
    expect((await create(tasks, past)).status).toBe(400)
  })
})

// The last test of this file: there is no database afterwards.
describe('while the database is away', () => {
  it('every route responds with 503 and a problem, never with 500 or nothing', async () => {
    const { apiKey, token, workspaceId, organizationId } = await api.signUp()
    await wire.cut()
    for (const [path, methods] of Object.entries(routes)) {
      if (withoutDatabase.test(path)) continue
      for (const [method, { right }] of Object.entries(methods)) {
        const at = path.replace(':org', organizationId).replace(':ws', workspaceId).replace(/:\w+/g, 'x')
        const body = method === 'get' || method === 'delete' ? undefined : bodyFor(path)
        const session = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': workspaceId }
        // Routes for users ignore keys.
        const credentials =
          right === 'signed_in' || right === 'operator' ? [session] : [session, { 'X-Api-Key': apiKey }]
        for (const headers of credentials) {
          const answer = await api.send(method.toUpperCase(), at, body, { ...headers, 'X-Request-Id': 'an-outage' })
          expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 503, 'unavailable'])
          expect(answer.headers.get('Retry-After')).toBe('5')
          expect([answer.headers.get('X-Request-Id'), answer.body.request_id]).toEqual(['an-outage', 'an-outage'])
        }
      }
    }
  })
})

function bodyFor(path: string): object {
  if (path.endsWith('/tasks')) return aTaskBody()
  if (path.endsWith('/register')) return { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }
  if (path.endsWith('/login')) return { email: 'ada@example.com', password: 'correct horse battery' }
  if (path.endsWith('/forgot')) return { email: 'ada@example.com' }
  if (path.endsWith('/reset')) return { token: 'a'.repeat(43), password: 'correct horse battery' }
  if (/\/(email\/confirm|integrations\/confirm|invitations\/(preview|accept))$/.test(path))
    return { token: 'a'.repeat(43) }
  if (path.endsWith('/accept')) return { name: 'Ada', password: 'correct horse battery' }
  return { name: 'A name' }
}
