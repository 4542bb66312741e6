import { fromId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { hashApiKey } from '../src/auth/api-key.ts'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()
const register = '/api/v1/auth/register'
const login = '/api/v1/auth/login'
const organizations = '/api/v1/organizations'
const password = 'correct horse battery'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

describe('works', () => {
  it('registers, signs in with the email in any case, and sets a session cookie', async () => {
    const name = `ada-${crypto.randomUUID()}`
    const registered = await api.send('POST', register, {
      email: `A${name.slice(1)}@Example.com`,
      password,
      name: 'Ada',
    })
    expect(registered.status).toBe(201)
    expect(registered.body.user).toMatchObject({ email: `${name}@example.com`, name: 'Ada' })
    const cookie = registered.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^belfry_session=.*; Path=\/; HttpOnly; SameSite=Lax/)
    const signedIn = await api.send('POST', login, { email: `${name.toUpperCase()}@example.com`, password })
    expect(signedIn.status).toBe(200)
    expect(Object.keys(signedIn.body).sort()).toEqual(['expires_at', 'token', 'user'])
    expect(JSON.stringify(signedIn.body)).not.toMatch(/password|argon/)
  })

  it('creates an organization, its workspace and a key that works; the key is not stored', async () => {
    const { token, apiKey } = await api.signUp()
    const organization = await api.send('POST', organizations, { name: 'Söder & Co' }, bearer(token))
    expect(organization.status).toBe(201)
    expect(organization.body).toMatchObject({ name: 'Söder & Co', slug: 'soder-co', tier: 'unlimited' })
    expect(Object.values(organization.body.policy)).toEqual(Array(6).fill(false))
    const second = await api.send('POST', organizations, { name: 'Söder & Co' }, bearer(token))
    expect(second.body.slug).toMatch(/^soder-co-[0-9a-f]{6}$/)
    const { rows } = await api.db.query('SELECT * FROM api_keys')
    expect(JSON.stringify(rows)).not.toContain(apiKey)
  })
})

describe('refuses', () => {
  it('a second account with the same email', async () => {
    const body = { email: 'twice@example.com', password, name: 'A' }
    await api.send('POST', register, body)
    const { status, body: problem } = await api.send('POST', register, { ...body, email: 'TWICE@example.com' })
    expect([status, problem.code]).toEqual([409, 'email_taken'])
  })

  it('a wrong password and an unknown email with the same words', async () => {
    const { email } = await api.signUp()
    const headers = { 'X-Request-Id': 'same' }
    const wrong = await api.send('POST', login, { email, password: 'wrong horse battery' }, headers)
    const stranger = `${crypto.randomUUID()}@example.com`
    const unknown = await api.send('POST', login, { email: stranger, password }, headers)
    expect(wrong.status).toBe(401)
    expect(unknown.text).toBe(wrong.text)
  })

  it.each([
    [{ email: 'not an address', password, name: 'A' }, ['email']],
    [{ email: 'a@example.com', password: 'short', name: 'A' }, ['password']],
    [{ email: 'a@example.com', password: 'x'.repeat(129), name: '' }, ['name', 'password']],
    [{ email: 'a@example.com', password, name: 'A', role: 'owner' }, ['role']],
  ])('a registration with %j', async (body, paths) => {
    const { status, body: problem } = await api.send('POST', register, body)
    expect(status).toBe(400)
    expect(problem.errors.map((error: { path: string }) => error.path).sort()).toEqual(paths)
  })
})

describe('permits', () => {
  it('no API key where a user is needed, and no stranger in an organization', async () => {
    const { apiKey, organizationId, workspaceId } = api.caller
    expect((await api.send('POST', organizations, { name: 'x' }, { 'X-Api-Key': apiKey })).status).toBe(401)
    const stranger = await api.signUp()
    for (const path of [
      `${organizations}/${organizationId}/workspaces`,
      `/api/v1/workspaces/${workspaceId}/api-keys`,
    ]) {
      expect((await api.send('POST', path, { name: 'x' }, bearer(stranger.token))).status).toBe(404)
    }
  })

  it('a member to do only what the policy allows', async () => {
    const { organizationId, workspaceId } = api.caller
    const member = await api.signUp()
    await api.db.query(
      `INSERT INTO memberships (organization_id, user_id, role)
       SELECT w.organization_id, u.id, 'member' FROM workspaces w, users u
       WHERE u.email = $1 AND w.organization_id = (SELECT organization_id FROM memberships m JOIN users o ON o.id = m.user_id
                                                   WHERE o.email = $2)`,
      [member.email, api.caller.email],
    )
    const keys = `/api/v1/workspaces/${workspaceId}/api-keys`
    expect((await api.send('POST', keys, { name: 'x' }, bearer(member.token))).status).toBe(404)
    await api.db.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role)
       SELECT k.workspace_id, u.id, 'viewer' FROM api_keys k, users u WHERE u.email = $1 AND k.hash = $2`,
      [member.email, hashApiKey(api.caller.apiKey)],
    )
    const tasks = (method: string, body?: unknown) =>
      api.send(method, '/api/v1/scheduler/tasks', body, { ...bearer(member.token), 'X-Workspace-Id': workspaceId })
    expect((await tasks('GET')).status).toBe(200)
    expect((await tasks('POST', aTaskBody())).body.detail).toMatch(/Editor role/)
    const paths = [`${organizations}/${organizationId}/workspaces`, keys]
    for (const path of paths) {
      const { status, body } = await api.send('POST', path, { name: 'x' }, bearer(member.token))
      expect([status, body.code]).toEqual([403, 'forbidden'])
      expect(body.detail).toMatch(/doesn't let members create (workspaces|API keys)/)
    }
    const id = fromId('org', organizationId)
    await api.db.query('UPDATE organizations SET members_can_create_workspaces = true WHERE id = $1', [id])
    expect((await api.send('POST', paths[0] ?? '', { name: 'x' }, bearer(member.token))).status).toBe(201)
    expect((await api.send('POST', paths[1] ?? '', { name: 'x' }, bearer(member.token))).status).toBe(403)
  })
})
