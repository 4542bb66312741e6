import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createApiKeyText } from '../src/auth/api-key.ts'
import { anOrganization, type TestOrganization } from './organization.ts'
import { aTaskBody, burstUntilRefused, type Json, useApi } from './setup.ts'

const api = useApi()
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
    expect((await tasks(first.key, { 'X-Forwarded-For': '192.0.2.1' })).status).toBe(200)
    expect((await tasks(second.key)).status).toBe(200)
    const list = async () => (await api.send('GET', keysOf(organization), undefined, organization.owner.session)).body
    await expect.poll(async () => (await list()).data[1].last_used_at).not.toBeNull()
    const { data } = await list()
    expect(data.map(({ name }: Json) => name)).toEqual(['Deploy', 'CI'])
    expect(JSON.stringify(data)).not.toContain(first.key)
    expect(data[1]).toEqual({
      ...first,
      key: undefined,
      last_used_at: data[1].last_used_at,
      last_used_address: '192.0.2.1',
    })
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

describe('its scopes', () => {
  const createTask = (key: string) => api.send('POST', '/api/v1/scheduler/tasks', aTaskBody(), { 'X-Api-Key': key })

  it('publish: creates tasks and events, and reads and changes nothing', async () => {
    const organization = await anOrganization(api)
    const { key, scopes } = await create(organization, { scopes: ['publish'] })
    expect(scopes).toEqual(['publish'])
    const { status, body } = await createTask(key)
    expect(status).toBe(201)
    const headers = { 'X-Api-Key': key }
    expect((await api.send('POST', '/api/events', { topic: 'a.topic', payload: {} }, headers)).status).toBe(202)
    const refused = await tasks(key)
    expect([refused.status, refused.body.detail]).toEqual([403, 'This API key lacks the right task.read.'])
    const path = `/api/v1/scheduler/tasks/${body.id}`
    expect((await api.send('PATCH', path, { name: 'Another' }, headers)).status).toBe(403)
    expect((await api.send('DELETE', path, undefined, headers)).status).toBe(403)
  })

  it('read: reads, and creates nothing', async () => {
    const { key } = await create(await anOrganization(api), { scopes: ['read'] })
    expect((await tasks(key)).status).toBe(200)
    expect((await createTask(key)).status).toBe(403)
    const secrets = await api.send('GET', '/api/v1/workspaces/current/signing-secrets', undefined, { 'X-Api-Key': key })
    expect(secrets.status).toBe(403)
  })

  it('are never more than the rights of its maker', async () => {
    const organization = await anOrganization(api)
    await organization.setPolicy({ membersCanCreateApiKeys: true })
    const viewer = await organization.add('member', 'viewer')
    const by = (scopes: string[]) => api.send('POST', keysOf(organization), { name: 'CI', scopes }, viewer.session)
    const listed = await by(['task.read', 'task.write'])
    expect([listed.status, listed.body.detail]).toEqual([403, expect.stringMatching(/task\.write\.$/)])
    expect((await by(['publish'])).status).toBe(403)
    const reading = (await by(['read'])).body.scopes
    expect(reading).toContain('task.read')
    expect(reading).not.toContain('secret.read')
    expect((await by(['full'])).body.scopes).toEqual(reading)
  })

  it.each([[[]], [['everything']], [['api_key.create']], [['constructor']], ['read']])(
    '%j is refused',
    async scopes => {
      const organization = await anOrganization(api)
      const { status } = await api.send(
        'POST',
        keysOf(organization),
        { name: 'CI', scopes },
        organization.owner.session,
      )
      expect(status).toBe(400)
    },
  )
})

describe('its address ranges', () => {
  const from = (address: string) => ({ 'X-Forwarded-For': address })

  it('refuse calls from elsewhere, which leave no trace and spend nothing', async () => {
    const organization = await anOrganization(api)
    const ranges = ['192.0.2.0/24', '2001:db8::/32']
    const { key, allowed_ranges } = await create(organization, { allowed_ranges: ranges })
    expect(allowed_ranges).toEqual(ranges)
    const refused = await tasks(key, from('198.51.100.7'))
    expect([refused.status, refused.body.detail]).toEqual([403, 'This API key may not be used from 198.51.100.7.'])
    expect(refused.headers.get('ratelimit')).toBeNull()
    expect((await tasks(key, from('192.0.2.8'))).status).toBe(200)
    expect((await tasks(key, from('2001:db8:1::1'))).status).toBe(200)
    expect((await tasks(key, from('198.51.100.7'))).status).toBe(403)
    const used = async () =>
      (await api.send('GET', keysOf(organization), undefined, organization.owner.session)).body.data[0]
        .last_used_address
    await expect.poll(used).not.toBeNull()
    expect(await used()).toMatch(/^(192\.0\.2\.8|2001:db8:1::1)$/)
  })

  it.each([[['192.0.2.1/24']], [['192.0.2.0/24,10.0.0.0/8']], [['']], [['192.0.2.0']], [Array(51).fill('10.0.0.0/8')]])(
    '%j is refused',
    async allowed_ranges => {
      const organization = await anOrganization(api)
      const body = { name: 'CI', allowed_ranges }
      expect((await api.send('POST', keysOf(organization), body, organization.owner.session)).status).toBe(400)
    },
  )

  it('are up to fifty', async () => {
    const { allowed_ranges } = await create(await anOrganization(api), { allowed_ranges: Array(50).fill('10.0.0.0/8') })
    expect(allowed_ranges).toHaveLength(50)
  })
})

describe('the policy about its end', () => {
  const dayMs = 86_400_000
  const limitTo = (organization: TestOrganization, days: number | null) =>
    api.send(
      'PATCH',
      `/api/v1/organizations/${organization.id}`,
      { max_api_key_days: days },
      organization.owner.session,
    )
  const at = (days: number) => new Date(Date.now() + days * dayMs).toISOString()
  const send = (organization: TestOrganization, expires_at: unknown) =>
    api.send('POST', keysOf(organization), { name: 'CI', expires_at }, organization.owner.session)

  it('gives new keys an end, and refuses a later one and none', async () => {
    const organization = await anOrganization(api)
    const changed = await limitTo(organization, 30)
    expect([changed.status, changed.body.max_api_key_days]).toEqual([200, 30])
    const days = (Date.parse((await create(organization)).expires_at) - Date.now()) / dayMs
    expect(Math.round(days * 100) / 100).toBe(30)
    expect((await send(organization, at(29))).status).toBe(201)
    for (const refused of [await send(organization, at(31)), await send(organization, null)]) {
      expect([refused.status, refused.body.errors?.[0]]).toMatchObject([400, { code: 'too_late', path: 'expires_at' }])
    }
    await limitTo(organization, null)
    expect((await send(organization, null)).status).toBe(201)
    const { body } = await api.send(
      'GET',
      `/api/v1/organizations/${organization.id}/audit-log?action=organization.policy_changed`,
      undefined,
      organization.owner.session,
    )
    expect(body.data[1].details).toEqual({ max_api_key_days: { from: null, to: 30 } })
  })

  it.each([0, 3651, 1.5, '30'])('is not %j days', async days => {
    expect((await limitTo(await anOrganization(api), days as number)).status).toBe(400)
  })
})

describe('its roll', () => {
  const roll = (organization: TestOrganization, id: string, body: unknown = {}, session = organization.owner.session) =>
    api.send('POST', `${keysOf(organization)}/${id}/roll`, body, session)

  it('makes a key with the same rights; both work during the overlap', async () => {
    const organization = await anOrganization(api)
    const limits = { scopes: ['task.read'], allowed_ranges: ['100.64.0.0/10'] } // the addresses of test files
    const old = await create(organization, limits)
    expect((await tasks(old.key)).status).toBe(200)
    const { status, body } = await roll(organization, old.id, { overlap_ms: 3_600_000 })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'CI', ...limits, expires_at: null, created_by: organization.owner.id })
    expect(body.key).not.toBe(old.key)
    expect([(await tasks(old.key)).status, (await tasks(body.key)).status]).toEqual([200, 200])
    const { data } = (await api.send('GET', keysOf(organization), undefined, organization.owner.session)).body
    const left = Date.parse(data[1].expires_at) - Date.now()
    expect(left).toBeGreaterThan(3_500_000)
    expect(left).toBeLessThan(3_700_000)
  })

  it('without an overlap ends the previous key at once', async () => {
    const organization = await anOrganization(api)
    const old = await create(organization)
    expect((await tasks(old.key)).status).toBe(200)
    const { body } = await roll(organization, old.id, { overlap_ms: 0 })
    expect([(await tasks(old.key)).status, (await tasks(body.key)).status]).toEqual([401, 200])
    expect((await roll(organization, old.id)).status).toBe(409)
  })

  it('never extends the previous key, and gives the next one the same lifetime within the policy', async () => {
    const organization = await anOrganization(api)
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const old = await create(organization, { expires_at: inMinutes(10) })
    const { body } = await roll(organization, old.id)
    expect(Math.abs(Date.parse(body.expires_at) - Date.parse(inMinutes(10)))).toBeLessThan(60_000)
    const rows = await api.ctx.prisma.apiKey.findMany({ where: { prefix: old.prefix, name: 'CI' } })
    expect(rows.map(({ expiresAt }) => expiresAt?.toISOString())).toContain(old.expires_at)
    const path = `/api/v1/organizations/${organization.id}`
    const forever = await create(organization)
    await api.send('PATCH', path, { max_api_key_days: 1 }, organization.owner.session)
    const limited = (await roll(organization, forever.id)).body.expires_at
    expect(Date.parse(limited)).toBeLessThan(Date.now() + 86_460_000)
    expect((await roll(organization, body.id, { expires_at: null })).status).toBe(400)
  })

  it('again, after a lost answer, gives the lifetime from before the first roll', async () => {
    const organization = await anOrganization(api)
    const inDays = (days: number) => Date.now() + days * 86_400_000
    const expires_at = new Date(inDays(30)).toISOString()
    const [forever, limited] = [await create(organization), await create(organization, { expires_at })]
    const rollTwice = async ({ id }: Json) => {
      await roll(organization, id, { overlap_ms: 3_600_000 })
      return (await roll(organization, id, { overlap_ms: 60_000 })).body.expires_at
    }
    expect(await rollTwice(forever)).toBeNull()
    expect(Math.abs(Date.parse(await rollTwice(limited)) - inDays(30))).toBeLessThan(60_000)
  })

  it('needs the rights of the key, and one place only at the limit of the tier', async () => {
    const organization = await anOrganization(api)
    await organization.setPolicy({ membersCanCreateApiKeys: true })
    const viewer = await organization.add('member', 'viewer')
    const old = await create(organization)
    expect((await roll(organization, old.id, {}, viewer.session)).status).toBe(403)
    expect((await tasks(old.key)).status).toBe(200)
    const limit = api.ctx.config.tiers.free.apiKeys
    for (let i = 1; i < limit; i++) await organization.apiKey()
    expect((await api.send('POST', keysOf(organization), { name: 'CI' }, organization.owner.session)).status).toBe(402)
    const rolled = await roll(organization, old.id)
    expect(rolled.status).toBe(201)
    expect((await roll(organization, rolled.body.id)).status).toBe(402)
  })

  it('is refused for the key of another workspace, and with a wrong overlap', async () => {
    const [organization, another] = [await anOrganization(api), await anOrganization(api)]
    const { id } = await create(another)
    expect((await roll(organization, id)).status).toBe(404)
    for (const overlap_ms of [-1, 30 * 86_400_000 + 1, 0.5]) {
      expect((await roll(another, id, { overlap_ms })).status).toBe(400)
    }
  })

  it('of many at the same time makes one key', async () => {
    const organization = await anOrganization(api)
    const { id } = await create(organization)
    const all = await Promise.all(Array.from({ length: 5 }, () => roll(organization, id, { overlap_ms: 0 })))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })
})

describe('refuses', () => {
  it('a key after its end by the clock of the database, also one in the cache', async () => {
    const organization = await anOrganization(api)
    const endsAt = api.ctx.clock.now() + 1_000
    const { key } = await create(organization, { expires_at: new Date(endsAt).toISOString() })
    // It counts when a request began and ended, because a busy machine may take seconds for one.
    for (let began = 0; began < endsAt + 50; await setTimeout(50)) {
      began = api.ctx.clock.now()
      const { status } = await tasks(key)
      if (api.ctx.clock.now() < endsAt - 50) expect(status).toBe(200)
      if (began >= endsAt + 50) expect(status).toBe(401)
    }
  })

  it('to revoke a key with rights that the user lacks, unless the user has created it', async () => {
    const organization = await anOrganization(api)
    await organization.setPolicy({ membersCanCreateApiKeys: true })
    const viewer = await organization.add('member', 'viewer')
    const [full, reading] = [await create(organization), await create(organization, { scopes: ['task.read'] })]
    const own = (await api.send('POST', keysOf(organization), { name: 'CI' }, viewer.session)).body
    const revoke = (id: string) => api.send('DELETE', `${keysOf(organization)}/${id}`, undefined, viewer.session)
    const refused = await revoke(full.id)
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('You lack rights of this key')])
    expect((await tasks(full.key)).status).toBe(200)
    expect([(await revoke(reading.id)).status, (await revoke(own.id)).status]).toEqual([204, 204])
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
    expect((await tasks(key, from('192.0.2.78'))).status).toBe(200)
    const wrong = await burstUntilRefused(200, () => tasks(createApiKeyText().key, from('192.0.2.78')))
    const statuses = wrong.map(({ status }) => status)
    expect(statuses.filter(status => status === 401).length).toBeGreaterThanOrEqual(100)
    const refused = wrong.find(({ status }) => status === 429)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    api.ctx.apiKeys.clear() // as after five seconds
    expect((await tasks(key, from('192.0.2.78'))).status).toBe(200)
    expect((await tasks(createApiKeyText().key, from('192.0.2.79'))).status).toBe(401)
  })
})
