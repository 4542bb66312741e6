import { rights } from '@belfry/domain/permissions'
import { describe, expect, it } from 'vitest'
import { anOrganization } from './organization.ts'
import { allRoutes } from './permissions/all-routes.ts'
import { requests } from './permissions/requests.ts'
import { burstUntilRefused, useApi } from './setup.ts'

const api = useApi({}, { tier: 'free' })
const path = '/api/v1/scheduler/tasks'
const keyed = allRoutes().filter(
  ({ endpoint: { right } }) =>
    right !== 'public' && right !== 'signed_in' && right !== 'operator' && rights[right].apiKey,
)

describe('rate limits', () => {
  it('refuse requests of a key over its tier, with a time to retry', async () => {
    const caller = await api.signUp()
    const headers = { 'X-Api-Key': caller.apiKey }
    const first = await api.send('GET', path, undefined, headers)
    expect(first.headers.get('RateLimit-Policy')).toBe('"key";q=10;w=1')
    expect(first.headers.get('RateLimit')).toBe('"key";r=9;t=1')
    const answers = await burstUntilRefused(60, () => api.send('GET', path, undefined, headers))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused[0]?.body).toMatchObject({ code: 'rate_limited', status: 429 })
    expect(refused[0]?.headers.get('Retry-After')).toBe('1')
    expect(answers.filter(({ status }) => status === 200).length).toBe(answers.length - refused.length)
  })

  it('count each key separately', async () => {
    const [one, other] = [await api.signUp(), await api.signUp()]
    await Promise.all(Array.from({ length: 40 }, () => api.send('GET', path, undefined, { 'X-Api-Key': one.apiKey })))
    expect((await api.send('GET', path, undefined, { 'X-Api-Key': other.apiKey })).status).toBe(200)
  })

  it.each(keyed)('are in every response to a key: $name', async ({ method, path, name }) => {
    const organization = await anOrganization(api)
    const ids = { ws: organization.workspaceId, org: organization.id }
    const filled = path.replace(/:(\w+)/g, (_, param) => ids[param as 'ws'] ?? 'x')
    const body = method === 'GET' ? {} : { body: JSON.stringify(requests[name]?.body?.() ?? {}) }
    const headers = { ...(await organization.apiKey()), 'Content-Type': 'application/json' }
    const answer = await fetch(api.url + filled, { method, headers, ...body })
    await answer.body?.cancel() // a stream would not end
    const sent = ['RateLimit-Policy', 'RateLimit'].map(header => answer.headers.get(header))
    expect(sent).toEqual(['"key";q=10;w=1', '"key";r=9;t=1'])
  })

  it('apply to sessions too', async () => {
    const { token, workspaceId } = await api.signUp()
    const headers = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': workspaceId }
    const answer = await api.send('GET', path, undefined, headers)
    expect(answer.headers.get('RateLimit-Policy')).toBe('"session";q=50;w=1')
  })
})
