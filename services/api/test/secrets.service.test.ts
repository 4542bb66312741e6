import { describe, expect, it } from 'vitest'
import { aTaskBody, type Caller, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const secretsOf = ({ workspaceId }: Caller) => `/api/v1/workspaces/${workspaceId}/secrets`
const signingSecretsOf = ({ workspaceId }: Caller) => `/api/v1/workspaces/${workspaceId}/signing-secrets`

describe('works', () => {
  it('creates, changes, lists and deletes a secret, and never returns its value', async () => {
    const caller = await api.signUp()
    const call = (method: string, path: string, body?: unknown) =>
      api.send(method, path, body, { 'X-Api-Key': caller.apiKey })
    const path = `${secretsOf(caller)}/API_TOKEN`
    const made = await call('PUT', path, { value: 'first value' })
    expect([made.status, made.headers.get('location')]).toEqual([201, path])
    const changed = await call('PUT', path, { value: 'second value' })
    expect([changed.status, changed.body.name, changed.body.created_at]).toEqual([
      200,
      'API_TOKEN',
      made.body.created_at,
    ])
    const listed = await call('GET', secretsOf(caller))
    expect(listed.body).toEqual({ data: [changed.body], next_cursor: null })
    expect(Object.keys(changed.body)).toEqual(['name', 'allowed_hosts', 'created_at', 'updated_at'])
    for (const { text } of [made, changed, listed]) expect(text).not.toContain('value')
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('DELETE', path)).status).toBe(404)
  })

  it('binds a secret to hosts until they are changed, and records that', async () => {
    const caller = await api.signUp()
    const path = `${secretsOf(caller)}/BOUND`
    const put = async (body: Record<string, unknown>) => {
      const { body: secret } = await api.send(
        'PUT',
        path,
        { value: 'a value', ...body },
        { 'X-Api-Key': caller.apiKey },
      )
      return secret.allowed_hosts
    }
    expect(await put({ allowed_hosts: ['API.example.com', '*.example.org:8443'] })).toEqual([
      'api.example.com',
      '*.example.org:8443',
    ])
    expect(await put({})).toEqual(['api.example.com', '*.example.org:8443'])
    expect(await put({ allowed_hosts: null })).toBeNull()
    const log = `/api/v1/organizations/${caller.organizationId}/audit-log?object_id=BOUND`
    const { data } = (await api.send('GET', log, undefined, bearer(caller.token))).body
    expect(data.map(({ details }: { details: unknown }) => details).reverse()).toEqual([
      { allowed_hosts: ['api.example.com', '*.example.org:8443'] },
      {},
      { allowed_hosts: null },
    ])
    for (const allowed_hosts of [[], ['https://a.example'], ['*'], Array(21).fill('a.example')])
      expect((await api.send('PUT', path, { value: 'a value', allowed_hosts }, bearer(caller.token))).status).toBe(400)
  })

  it('takes references in the url, headers and payload of tasks and cron jobs, also to secrets that do not exist', async () => {
    const request = {
      url: 'https://{{ secrets.HOST }}/{{ secrets.PATH }}',
      headers: { Authorization: 'Bearer {{ secrets.TOKEN }}' },
      payload: { a: ['{{secrets.NONE}}', '{{ other }}'] },
    }
    const task = await api.call('POST', tasks, aTaskBody(request))
    expect([task.status, task.body]).toEqual([201, expect.objectContaining(request)])
    const patched = await api.call('PATCH', `${tasks}/${task.body.id}`, { url: '{{ secrets.URL }}' })
    expect([patched.status, patched.body.url]).toEqual([200, '{{ secrets.URL }}'])
    const job = { name: 'job', method: 'POST', cron: '0 0 1 1 *', ...request }
    expect(await api.call('POST', '/api/v1/scheduler/cronjobs', job)).toMatchObject({ status: 201, body: request })
  })

  it('makes, rotates and revokes the signing secret of a workspace', async () => {
    const caller = await api.signUp()
    const call = (method: string, path: string) => api.send(method, path, undefined, { 'X-Api-Key': caller.apiKey })
    const path = signingSecretsOf(caller)
    const { body: before } = await call('GET', path)
    expect(before.data).toMatchObject([{ expires_at: null, secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) }])
    const rotated = await call('POST', path)
    expect([rotated.status, rotated.headers.get('location')]).toEqual([201, `${path}/${rotated.body.id}`])
    const { body: after } = await call('GET', path)
    const [{ id, secret }] = before.data
    expect(after.data).toMatchObject([rotated.body, { id, secret, expires_at: expect.any(String) }])
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await call('GET', path)).body.data).toEqual([rotated.body])
  })

  it('has made the signing secret with the workspace', async () => {
    const before = await api.count('signing_secrets')
    const { organizationId, token } = api.caller
    const session = { Authorization: `Bearer ${token}` }
    await api.send('POST', `/api/v1/organizations/${organizationId}/workspaces`, { name: 'Second' }, session)
    expect(await api.count('signing_secrets')).toBe(before + 1)
  })
})

describe('refuses', () => {
  it.each(['lower', '1A', 'A-B', `A${'B'.repeat(64)}`, 'A%20'])('a secret called %j', async name => {
    const { status, body } = await api.call('PUT', `${secretsOf(api.caller)}/${name}`, { value: 'a value' })
    expect([status, body.errors?.[0]?.code]).toEqual([400, 'invalid_secret_name'])
    expect((await api.call('DELETE', `${secretsOf(api.caller)}/${name}`)).status).toBe(404)
  })

  it.each(['', 'abc', '  a b c  ', 'x'.repeat(8193), 12345])('the value %j, without repeating it', async value => {
    const { status, body, text } = await api.call('PUT', `${secretsOf(api.caller)}/BAD`, { value })
    expect([status, body.errors[0].path]).toEqual([400, 'value'])
    if (String(value).length > 4) expect(text).not.toContain(value)
  })

  it('malformed references everywhere', async () => {
    const broken = '{{ secrets.token }}'
    const bodies = [
      { url: `https://example.com/${broken}` },
      { headers: { X: broken } },
      { payload: { a: [0, broken] } },
    ]
    const errors = await Promise.all(
      bodies.map(async body => (await api.call('POST', tasks, aTaskBody(body))).body.errors),
    )
    expect(errors.map(([error]) => [error.path, error.code])).toEqual([
      ['url', 'invalid_url'],
      ['headers.X', 'invalid_header'],
      ['payload.a.1', 'invalid_secret_reference'],
    ])
  })

  it('to revoke the signing secret that is in use, and a sixth one', async () => {
    const caller = await api.signUp()
    const as = { 'X-Api-Key': caller.apiKey }
    const path = signingSecretsOf(caller)
    const { body } = await api.send('GET', path, undefined, as)
    expect((await api.send('DELETE', `${path}/${body.data[0].id}`, undefined, as)).body.code).toBe('conflict')
    const statuses = []
    for (let i = 0; i < 5; i++) statuses.push((await api.send('POST', path, undefined, as)).status)
    expect(statuses).toEqual([201, 201, 201, 201, 409])
  })
})

describe('permits', () => {
  it('no other workspace, and no caller without the right', async () => {
    await api.call('PUT', `${secretsOf(api.caller)}/MINE`, { value: 'a value' })
    const { body } = await api.call('GET', signingSecretsOf(api.caller))
    const stranger = await api.signUp()
    const calls = [
      ['GET', secretsOf(api.caller)],
      ['PUT', `${secretsOf(api.caller)}/MINE`, { value: 'theirs' }],
      ['DELETE', `${secretsOf(api.caller)}/MINE`],
      ['GET', signingSecretsOf(api.caller)],
      ['POST', signingSecretsOf(api.caller)],
      ['DELETE', `${signingSecretsOf(api.caller)}/${body.data[0].id}`],
    ] as const
    for (const [method, path, sent] of calls) {
      expect((await api.send(method, path, sent)).status).toBe(401)
      for (const as of [{ 'X-Api-Key': stranger.apiKey }, bearer(stranger.token)]) {
        expect([method, path, (await api.send(method, path, sent, as)).status]).toEqual([method, path, 404])
      }
    }
    const own = `${signingSecretsOf(stranger)}/${body.data[0].id}`
    expect((await api.send('DELETE', own, undefined, { 'X-Api-Key': stranger.apiKey })).status).toBe(404)
  })
})
