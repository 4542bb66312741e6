import { describe, expect, it } from 'vitest'
import { createApiKeyText } from '../src/auth/api-key.ts'
import { anOrganization, type TestOrganization } from './organization.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi(() => ({ TRUST_PROXY: 'loopback' }))
const keysOf = ({ workspaceId }: TestOrganization) => `/api/v1/workspaces/${workspaceId}/api-keys`
const tasks = (key: string, headers: Record<string, string> = {}) =>
  api.send('GET', '/api/v1/scheduler/tasks', undefined, { 'X-Api-Key': key, ...headers })

async function create(organization: TestOrganization, body: Record<string, unknown> = {}): Promise<Json> {
  const given = { name: 'CI', ...body }
  return (await api.send('POST', keysOf(organization), given, organization.owner.session)).body
}

describe('works', () => {
  it('is accepted as a bearer token, and means its own workspace by `current`', async () => {
    const organization = await anOrganization(api)
    const { key } = await create(organization)
    const bearer = { Authorization: `Bearer ${key}` }
    const get = (path: string, headers: Record<string, string>) => api.send('GET', path, undefined, headers)
    expect((await get('/api/v1/scheduler/tasks', bearer)).status).toBe(200)
    expect((await get('/api/v1/workspaces/current', bearer)).body.id).toBe(organization.workspaceId)
    const put = await api.send('PUT', '/api/v1/workspaces/current/secrets/TOKEN', { value: 'a value' }, bearer)
    expect(put.status).toBe(201)
    const secrets = await get(`/api/v1/workspaces/${organization.workspaceId}/secrets`, { 'X-Api-Key': key })
    expect(secrets.body.data).toMatchObject([{ name: 'TOKEN' }])
    expect((await get('/api/v1/workspaces/current/signing-secrets', bearer)).body.data[0].secret).toMatch(/^whsec_/)
  })

  it('`current` is the workspace of X-Workspace-Id for a session, and nothing without it', async () => {
    const organization = await anOrganization(api)
    const { session } = organization.owner
    const get = (headers: Record<string, string>) =>
      api.send('GET', '/api/v1/workspaces/current', undefined, { ...session, ...headers })
    expect((await get({ 'X-Workspace-Id': organization.workspaceId })).body.id).toBe(organization.workspaceId)
    expect((await get({})).status).toBe(401)
  })

  it('is rejected as a bearer token when it is unknown, and where only users may act', async () => {
    const { key } = await create(await anOrganization(api))
    const send = (path: string, token: string) => api.send('GET', path, undefined, { Authorization: `Bearer ${token}` })
    expect((await send('/api/v1/scheduler/tasks', createApiKeyText().key)).body.detail).toMatch(/API key is unknown/)
    expect((await send('/api/v1/scheduler/tasks', 'bf_')).status).toBe(401)
    expect((await send('/api/v1/auth/me', key)).status).toBe(401)
    expect((await send('/api/v1/workspaces/current/api-keys', key)).status).toBe(403)
  })

  it('lists the keys of a workspace without their secrets, and records when one was used', async () => {
    const organization = await anOrganization(api)
    const [first, second] = [await create(organization), await create(organization, { name: 'Deploy' })]
    expect((await tasks(first.key)).status).toBe(200)
    expect((await tasks(second.key)).status).toBe(200)
    const list = async () => (await api.send('GET', keysOf(organization), undefined, organization.owner.session)).body
    await expect.poll(async () => (await list()).data[1].last_used_at).not.toBeNull()
    const { data } = await list()
    expect(data.map(({ name }: Json) => name)).toEqual(['Deploy', 'CI'])
    expect(JSON.stringify(data)).not.toContain(first.key)
    expect(data[1]).toEqual({ ...first, key: undefined, last_used_at: data[1].last_used_at })
  })

  it('reads its workspace, the members of it and its organization, and sees no other workspace', async () => {
    const organization = await anOrganization(api)
    const member = await organization.add('member', 'editor')
    await organization.addWorkspace()
    const headers = { 'X-Api-Key': (await create(organization)).key }
    const get = async (path: string) => (await api.send('GET', `/api/v1/${path}`, undefined, headers)).body
    const { workspaceId, id } = organization
    expect(await get(`workspaces/${workspaceId}`)).toMatchObject({ id: workspaceId })
    const members = await get(`workspaces/${workspaceId}/members`)
    expect(members.data).toMatchObject([{ user: { id: member.id }, role: 'editor' }])
    const workspaces = await get(`organizations/${id}/workspaces`)
    expect(workspaces.data.map((one: Json) => one.id)).toEqual([workspaceId])
    expect(Object.keys(await get(`organizations/${id}`))).toEqual(['id', 'name', 'slug', 'tier'])
  })

  it('writes the time of use at most once a minute', async () => {
    const organization = await anOrganization(api)
    const { key, id } = await create(organization)
    const lastUsed = async () => {
      const { body } = await api.send('GET', keysOf(organization), undefined, organization.owner.session)
      return body.data.find((one: Json) => one.id === id).last_used_at
    }
    await tasks(key)
    await expect.poll(lastUsed).not.toBeNull()
    await api.db.query(`UPDATE api_keys SET last_used_at = now() - interval '50 seconds'`)
    const before = await lastUsed()
    api.ctx.apiKeys.clear()
    await tasks(key)
    await api.db.query(`UPDATE api_keys SET last_used_at = last_used_at - interval '11 seconds'`)
    api.ctx.apiKeys.clear()
    await tasks(key)
    await expect.poll(async () => Date.parse(await lastUsed())).toBeGreaterThan(Date.parse(before) + 40_000)
  })

  it('refuses a revoked key at once, keeps it in the list, and leaves the other one alone', async () => {
    const organization = await anOrganization(api)
    const [first, second] = [await create(organization), await create(organization)]
    expect((await tasks(first.key)).status).toBe(200)
    const revoke = () =>
      api.send('DELETE', `${keysOf(organization)}/${first.id}`, undefined, organization.owner.session)
    expect((await revoke()).status).toBe(204)
    expect((await tasks(first.key)).status).toBe(401)
    expect((await tasks(second.key)).status).toBe(200)
    expect((await revoke()).status).toBe(204)
    const { body } = await api.send('GET', keysOf(organization), undefined, organization.owner.session)
    expect(body.data.map((one: Json) => one.revoked_at !== null)).toEqual([false, true])
    expect(await api.ctx.prisma.auditEntry.count({ where: { action: 'api_key.revoked', objectId: first.id } })).toBe(1)
  })
})

describe('refuses', () => {
  it('a key after its end by the clock of the database, also one in the cache', async () => {
    const organization = await anOrganization(api)
    const endsAt = new Date(api.ctx.clock.now() + 1_000)
    const { key } = await create(organization, { expires_at: endsAt.toISOString() })
    expect((await tasks(key)).status).toBe(200)
    const statuses = async () => [(await tasks(key)).status, api.ctx.clock.now() >= endsAt.getTime() + 50]
    await expect.poll(statuses, { timeout: 10_000 }).toEqual([401, true])
  })

  it('to revoke the key of another workspace', async () => {
    const [organization, another] = [await anOrganization(api), await anOrganization(api)]
    const { id, key } = await create(another)
    const path = `${keysOf(organization)}/${id}`
    expect((await api.send('DELETE', path, undefined, organization.owner.session)).status).toBe(404)
    expect((await tasks(key)).status).toBe(200)
  })

  it('a wrong key every time, without blocking other keys of the address', async () => {
    const organization = await anOrganization(api)
    const [good, wrong] = [(await create(organization)).key, createApiKeyText().key]
    const from = { 'X-Forwarded-For': '192.0.2.77' }
    const answers = await Promise.all(Array.from({ length: 5 }, () => tasks(wrong, from)))
    for (let i = 0; i < 150; i++) answers.push(await tasks(wrong, from))
    expect(answers.every(({ status }) => status === 401)).toBe(true)
    expect((await tasks(good, from)).status).toBe(200)
  })

  it('an address that tries many wrong keys, but no other address and no valid key', async () => {
    const organization = await anOrganization(api)
    const { key } = await create(organization)
    const from = (address: string) => ({ 'X-Forwarded-For': address })
    expect((await tasks(key, from('192.0.2.1'))).status).toBe(200)
    const wrong = await Promise.all(Array.from({ length: 200 }, () => tasks(createApiKeyText().key, from('192.0.2.1'))))
    const statuses = wrong.map(({ status }) => status)
    expect(statuses.filter(status => status === 401).length).toBeGreaterThanOrEqual(100)
    const refused = await tasks(createApiKeyText().key, from('192.0.2.1'))
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await tasks(key, from('192.0.2.1'))).status).toBe(200)
    expect((await tasks(createApiKeyText().key, from('192.0.2.2'))).status).toBe(401)
  })
})
