import { describe, expect, it } from 'vitest'
import { anOrganization, aPerson } from './organization.ts'
import { useApi } from './setup.ts'

const origin = 'https://belfry.test'
const api = useApi({ PUBLIC_URL: origin })
const me = '/api/v1/auth/me'

describe('every response', () => {
  it.each([
    ['GET', '/healthz', 200],
    ['GET', '/api/openapi.json', 200],
    ['GET', '/api/docs', 200],
    ['GET', '/api/problems/internal', 200],
    ['GET', '/api/v1/auth/me', 401],
    ['GET', '/api/v1/nothing', 404],
    ['PUT', '/api/events', 405],
    ['POST', '/api/v1/auth/login', 400],
  ])('to %s %s (%i) reveals nothing about the server and has a fixed type', async (method, path, status) => {
    const answer = await api.send(method, path)
    expect(answer.status).toBe(status)
    expect([answer.headers.get('x-powered-by'), answer.headers.get('server')]).toEqual([null, null])
    if (path !== '/healthz') expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('that is a page runs no script and allows no frame', async () => {
    for (const path of ['/api/docs', '/api/problems/internal']) {
      const page = await api.send('GET', path, undefined, { Accept: 'text/html' })
      const policy = page.headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(policy).not.toContain('unsafe')
    }
  })
})

describe('the session cookie', () => {
  it('is sent over HTTPS only, where Belfry is reached by it, and never to scripts or other sites’ forms', async () => {
    const body = { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }
    const { headers } = await api.send('POST', '/api/v1/auth/register', body)
    const attributes = (headers.get('set-cookie') ?? '').split('; ').slice(1)
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Lax', 'Secure']))
    expect(attributes.join()).not.toContain('Domain')
  })

  it('allows changes only from our own pages: by Origin, or without one by Sec-Fetch-Site', async () => {
    const { session } = await aPerson(api)
    const cookie = { Cookie: `__Host-belfry_session=${session.Authorization.slice('Bearer '.length)}` }
    const change = async (headers: Record<string, string>) =>
      (await api.send('PATCH', me, { name: 'Ada' }, { ...cookie, ...headers })).status
    expect(await change({ Origin: origin })).toBe(200)
    expect(await change({ 'Sec-Fetch-Site': 'same-origin' })).toBe(200)
    expect(await change({ Origin: 'http://belfry.test' })).toBe(403)
    for (const site of ['same-site', 'cross-site', 'none']) expect(await change({ 'Sec-Fetch-Site': site })).toBe(403)
    expect(await change({})).toBe(403)
  })

  it('changes nothing by reading', async () => {
    const { owner, id, workspaceId } = await anOrganization(api)
    const cookie = { Cookie: `__Host-belfry_session=${owner.session.Authorization.slice('Bearer '.length)}` }
    const before = await api.count('audit_log')
    for (const path of [me, `/api/v1/organizations/${id}`, `/api/v1/workspaces/${workspaceId}/secrets`]) {
      expect((await api.send('GET', path, undefined, cookie)).status).toBe(200)
    }
    expect(await api.count('audit_log')).toBe(before)
  })
})
