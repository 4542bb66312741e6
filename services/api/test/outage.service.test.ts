import { NIL_UUID, toId } from '@belfry/domain/id'
import { serviceUrl } from '@belfry/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { routes } from '../src/routes.ts'
import { aTaskBody, useApi } from './setup.ts'
import { putWireBefore, type SeverableDatabase } from './severable-database.ts'

// The link of an unsubscription is checked by its signature first. The methods of sign-in and the issuer of identity tokens are
// settings, and there is no issuer of sign-ins.
const withoutDatabase = /openapi|docs|problems|unsubscribe|auth\/methods|oidc\/(start|callback)|openid-configuration/

let wire: SeverableDatabase
const api = useApi(async databaseUrl => {
  wire = await putWireBefore(databaseUrl)
  return { DATABASE_URL: serviceUrl(wire.url, 'api'), RATE_LIMITS: 'off' } // one session calls every route
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

describe('a request that waits for the database until its time has passed', () => {
  it('is answered 503 with Retry-After, and 400 only if its time was past when it arrived', async () => {
    const { apiKey } = await api.signUp()
    const send = (method: string, path: string, body: object, headers = {}) =>
      api.send(method, path, body, { 'X-Api-Key': apiKey, ...headers })
    const tasks = '/api/v1/scheduler/tasks'
    const { body: pending } = await send('POST', tasks, aTaskBody())
    await send('POST', tasks, aTaskBody({ key: 'nightly' }))
    const requests = (executeAt: string) => [
      send('POST', tasks, aTaskBody({ execute_at: executeAt })),
      send('POST', tasks, aTaskBody({ execute_at: executeAt }), { 'Idempotency-Key': `by-${executeAt}` }),
      send('POST', tasks, aTaskBody({ execute_at: executeAt, key: 'new' })),
      send('POST', tasks, aTaskBody({ execute_at: executeAt, key: 'nightly', on_conflict: 'replace' })),
      send('PATCH', `${tasks}/${pending.id}`, { execute_at: executeAt }),
    ]
    const rows = (executeAt: string) => [
      aTaskBody({ execute_at: executeAt }),
      aTaskBody({ execute_at: executeAt, key: 'another' }),
    ]
    const locker = await api.db.connect()
    try {
      await locker.query('BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE')
      const soon = new Date(Date.now() + 2_000).toISOString()
      const waiting = [...requests(soon), send('POST', `${tasks}/batch`, { tasks: rows(soon) })]
      await expect.poll(async () => (await api.db.query(blocked)).rows).toEqual([{ n: waiting.length }])
      await locker.query('SELECT pg_sleep(extract(epoch FROM $1::timestamptz - clock_timestamp()) + 0.1)', [soon])
      await locker.query('ROLLBACK')
      const answers = await Promise.all(waiting)
      const batch = answers.pop()
      for (const { status, body, headers } of answers)
        expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'unavailable', '5'])
      expect(batch?.body.data).toMatchObject([unavailable, unavailable])
    } finally {
      locker.release()
    }
    const past = new Date(Date.now() - 1_000).toISOString()
    for (const { status } of await Promise.all(requests(past))) expect(status).toBe(400)
    const { body } = await send('POST', `${tasks}/batch`, { tasks: rows(past) })
    expect(body.data).toMatchObject([{ error: { status: 400 } }, { error: { status: 400 } }])
  })
})

const blocked = `SELECT count(*)::int AS n FROM pg_locks JOIN pg_database ON pg_database.oid = database
  WHERE NOT granted AND relation = 'tasks'::regclass AND datname = current_database()`

const unavailable = { error: { status: 503, code: 'unavailable' } }

describe('while the database is away', () => {
  it('every route responds with 503 and a problem, never with 500 or nothing', async () => {
    const { apiKey, token, workspaceId, organizationId } = await api.signUp()
    await wire.cut()
    onTestFinished(wire.restore)
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

const passkey = {
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
}

function bodyFor(path: string): object {
  if (path.endsWith('/tasks')) return aTaskBody()
  if (path.endsWith('/register')) return { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }
  if (path.endsWith('/login')) return { email: 'ada@example.com', password: 'correct horse battery' }
  if (path.endsWith('/login/factor')) return { sign_in_token: 'a'.repeat(43), code: '123456' }
  if (path.endsWith('/login/passkey')) return { passkey }
  if (path.endsWith('/auth/confirm')) return { password: 'correct horse battery' }
  if (path.endsWith('/totp/confirm')) return { code: '123456' }
  if (path.endsWith('/factors/passkeys')) {
    return { name: 'A', passkey: { ...passkey, response: { clientDataJSON: 'e30', attestationObject: 'AA' } } }
  }
  if (path.endsWith('/login/passkey/options')) return {}
  if (path.endsWith('/token-exchange')) {
    return { federated_credential_id: toId('fed', NIL_UUID), token: 'x.y.z' }
  }
  if (path.endsWith('/federated-credentials')) {
    const trust = { issuer: 'https://example.com', conditions: { repository: 'acme/app' } }
    return { name: 'CI', ...trust, scopes: ['publish'] }
  }
  if (path.endsWith('/forgot')) return { email: 'ada@example.com' }
  if (path.endsWith('/reset')) return { token: 'a'.repeat(43), password: 'correct horse battery' }
  if (/\/(email\/confirm|integrations\/confirm|invitations\/(preview|accept))$/.test(path))
    return { token: 'a'.repeat(43) }
  if (path.endsWith('/accept')) return { name: 'Ada', password: 'correct horse battery' }
  return { name: 'A name' }
}
