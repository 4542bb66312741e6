import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hashOneTimeToken } from '../src/auth/one-time-token.ts'
import { routes } from '../src/routes.ts'
import { anOrganization, aPerson, type TestOrganization, trust } from './organization.ts'
import { objects } from './permissions/objects.ts'
import { type Answer, type Json, useApi } from './setup.ts'

// Calls every route with one session.
const api = useApi({ RATE_LIMITS: 'off' })
let document: Json
let organization: TestOrganization

beforeAll(async () => {
  document = (await api.send('GET', '/api/openapi.json')).body
  organization = await anOrganization(api)
  await trust(api, organization.owner)
  vi.spyOn(api.ctx.config.operators, 'includes').mockImplementation(email => email === organization.owner.email)
})
afterAll(() => void vi.restoreAllMocks())

const operations = Object.entries(routes).flatMap(([path, endpoints]) =>
  Object.entries(endpoints).flatMap(([method, { body }]) => (body ? [[method.toUpperCase(), path] as const] : [])),
)

async function pathOf(route: string): Promise<string> {
  const of = route.includes('/operator/') ? await anOrganization(api) : organization // which the operator may suspend
  let path = route
  for (const [, name = ''] of route.matchAll(/:(\w+)/g)) {
    path = path.replace(`:${name}`, String(await objects[name]?.(api, of)))
  }
  return path
}

function isRequired(method: string, route: string): boolean {
  return document.paths[route.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()].requestBody.required
}

function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const { owner, workspaceId } = organization
  return api.send(method, path, body, { ...owner.session, 'X-Workspace-Id': workspaceId, ...headers })
}

describe('a request without a body', () => {
  it.each(operations)('is read as an empty object by %s %s', async (method, route) => {
    const path = await pathOf(route)
    const [without, empty] = [await send(method, path), await send(method, path, {})]
    expect([without.status, without.body?.errors]).toEqual([empty.status, empty.body?.errors])
    if (isRequired(method, route)) {
      expect(without).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
      expect(without.body.errors.map(({ code }: Json) => code)).toContain('required')
    } else if (route.endsWith('/connections/:connection/test')) {
      // The connection of this test has no token, which a test without a URL would request.
      expect(without.body.errors).toMatchObject([{ path: 'url', code: 'required' }])
    } else expect(without.status).not.toBe(400)
  })

  it('accepts an invitation as the signed-in user', async () => {
    const { session, email } = await aPerson(api)
    const token = await objects.token?.(api, organization)
    await api.ctx.prisma.invitation.update({ where: { tokenHash: hashOneTimeToken(String(token)) }, data: { email } })
    const accepted = await api.send('POST', `/api/v1/invitations/${token}/accept`, undefined, session)
    expect(accepted).toMatchObject({ status: 200, body: { organization: { id: organization.id } } })
  })

  it('may have a Content-Type, or an empty chunked body', async () => {
    const path = await pathOf('/api/v1/workspaces/:ws')
    expect(await send('PATCH', path, '', { 'Content-Type': 'application/json' })).toMatchObject({ status: 200 })
    const { owner } = organization
    const headers = { ...owner.session, 'Content-Type': 'application/json' }
    const body = new Blob([]).stream()
    const init = { method: 'PATCH', headers, body, duplex: 'half' } as RequestInit
    expect((await fetch(api.url + path, init)).status).toBe(200)
  })
})

describe('a PATCH that changes nothing', () => {
  it.each(operations.filter(([method]) => method === 'PATCH'))(
    'answers %s %s with the object as it is',
    async (method, route) => {
      if (isRequired(method, route)) return
      const path = await pathOf(route)
      const before = await send('GET', path)
      const entries = () => api.count('audit_log')
      const audited = await entries()
      for (const change of 'retry' in before.body ? [{}, { retry: {} }] : [{}]) {
        const answer = await send(method, path, change)
        expect(answer.status).toBe(200)
        expect(before.body).toMatchObject(answer.body) // an owner also reads the usage of the organization
      }
      expect((await send('GET', path)).text).toBe(before.text)
      expect(await entries()).toBe(audited)
    },
  )

  it('succeeds for a task that can no longer change, and fails for an unknown one', async () => {
    const path = await pathOf('/api/v1/scheduler/tasks/:task')
    await send('DELETE', path)
    expect(await send('PATCH', path)).toMatchObject({ status: 200, body: { state: 'cancelled' } })
    for (const [, route] of operations.filter(([method]) => method === 'PATCH')) {
      const unknown = route.replace(/:(\w+)/g, '$1_01kajvz3e9fkwvx3tb1h2c4d5e')
      if (unknown !== route) expect((await send('PATCH', unknown)).status).toBe(404)
    }
  })
})
