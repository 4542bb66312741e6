import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { warnOfOidc } from '../src/oidc/sign-in.ts'
import { mapped, useOidc } from './oidc-sign-in.ts'
import { anOrganization } from './organization.ts'
import type { Json } from './setup.ts'

const oidc = useOidc()
const { api, begin, finish, signIn } = oidc

const as = (session: string) => ({ Cookie: session, Origin: 'http://belfry.test' })
const me = async (session: string) => (await api.send('GET', '/api/v1/auth/me', undefined, as(session))).body

async function mappedOrganization() {
  const { rows } = await api.db.query<{ id: string }>('SELECT id FROM organizations WHERE slug = $1', [mapped])
  if (rows[0]) return toId('org', rows[0].id)
  const organization = await anOrganization(api)
  await api.db.query(
    `UPDATE organizations SET slug = $1 WHERE slug = (
    SELECT slug FROM organizations ORDER BY created_at DESC LIMIT 1)`,
    [mapped],
  )
  return organization.id
}

/** Makes an owner whose password is that of `api.caller`. */
async function anOwner({ isConfirmed }: { isConfirmed: boolean }) {
  const { owner } = await anOrganization(api)
  await api.db.query(
    `UPDATE users SET email_confirmed_at = CASE WHEN $2 THEN now() END,
       password_hash = (SELECT password_hash FROM users WHERE email = $3) WHERE email = $1`,
    [owner.email, isConfirmed, api.caller.email],
  )
  return owner
}

describe('a sign-in through the issuer', () => {
  it('begins with PKCE, a state and a nonce, which the browser cannot read', async () => {
    const { body, headers } = await api.send('POST', '/api/v1/auth/oidc/start', {})
    const url = new URL(body.url)
    expect(url.origin + url.pathname).toBe(`${oidc.issuer.url}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: 'belfry', scope: 'openid email profile', code_challenge_method: 'S256' },
      redirect_uri: 'http://belfry.test/api/v1/auth/oidc/callback',
    })
    const cookie = headers.getSetCookie().join()
    expect(cookie).toMatch(/^belfry_oidc=.*HttpOnly; SameSite=Lax/)
    for (const name of ['state', 'nonce']) expect(cookie).not.toContain(url.searchParams.get(name))
  })

  it('creates a user of a mapped group, who returns to the page', async () => {
    await mappedOrganization()
    const email = `${newUuid()}@Example.com`
    const { status, location, session, ended } = await signIn(
      { email, name: 'Grace\u0000 Hopper ' },
      '/account/profile?a=1#b',
    )
    expect({ status, location, ended }).toEqual({ status: 303, location: '/account/profile?a=1#b', ended: true })
    expect(await me(session)).toMatchObject({
      user: { email: email.toLowerCase(), name: 'Grace Hopper' },
      must_confirm_email: false,
      organizations: [{ slug: mapped, role: 'member' }],
    })
    const log = await api.send('GET', '/api/v1/auth/log', undefined, as(session))
    expect(log.body.data.map(({ action }: Json) => action)).toEqual(['signed_in'])
    const sessions = await api.send('GET', '/api/v1/auth/sessions', undefined, as(session))
    expect(sessions.body.data).toHaveLength(1)
    const exported = await api.send('GET', '/api/v1/auth/me/export', undefined, as(session))
    expect(exported.text).not.toContain('logout')
    const identity = { issuer: oidc.issuer.url, subject: expect.any(String), created_at: expect.any(String) }
    expect(exported.body.identities).toEqual([identity])
    expect(exported.body.second_factors).toEqual({ passkeys: [], totp: null, recovery_codes_left: 0 })
  })

  it('reads claims that only the user info endpoint has', async () => {
    await mappedOrganization()
    const begun = await begin()
    const sub = newUuid()
    oidc.issuer.userInfo = { sub, email: `${sub}@example.com`, email_verified: true, groups: ['admins'] }
    const { session } = await finish(begun, await oidc.issuer.sign({ sub, aud: 'belfry', nonce: begun.nonce }))
    expect((await me(session)).organizations).toMatchObject([{ role: 'admin' }])
  })

  it('finds the account again by the subject, also with another address', async () => {
    await mappedOrganization()
    const sub = newUuid()
    const first = await me((await signIn({ sub })).session)
    const second = await me((await signIn({ sub, email: 'changed@example.com' })).session)
    expect(second.user).toEqual(first.user)
  })

  it('applies the groups at each sign-in, lower roles and none too', async () => {
    const id = await mappedOrganization()
    const sub = newUuid()
    const roleWith = async (groups: string[]) =>
      (await me((await signIn({ sub, groups })).session)).organizations[0]?.role
    expect(await roleWith(['admins'])).toBe('admin')
    expect(await roleWith(['staff'])).toBe('member')
    const count = () => api.count(`workspace_members WHERE role = 'viewer'`)
    const before = await count()
    expect(await roleWith(['unknown'])).toBeUndefined()
    expect(await count()).toBe(before - 1)
    const { rows } = await api.db.query(
      `SELECT action, details::json ->> 'by' AS by FROM audit_log
       WHERE organization_id = $1 AND action IN ('member.role_changed', 'member.removed') ORDER BY id`,
      [fromId('org', id)],
    )
    expect(rows.slice(-2)).toEqual([
      { action: 'member.role_changed', by: 'oidc' },
      { action: 'member.removed', by: 'oidc' },
    ])
  })

  it('takes the workspaces of a group away with it, and keeps those of a member without such a group', async () => {
    const id = fromId('org', await mappedOrganization())
    const sub = newUuid()
    const signInWith = async (groups: string[]) => {
      const { user } = await me((await signIn({ sub, groups })).session)
      const text = `
        SELECT m.workspace_role AS later, array(
          SELECT w.role::text FROM workspace_members w JOIN workspaces s ON s.id = w.workspace_id
          WHERE w.user_id = m.user_id AND s.organization_id = m.organization_id) AS roles
        FROM memberships m WHERE m.user_id = $1 AND m.organization_id = $2`
      return {
        userId: fromId('user', user.id) ?? '',
        ...(await api.db.query(text, [fromId('user', user.id), id])).rows[0],
      }
    }
    const { userId, ...none } = await signInWith(['guests'])
    expect(none).toEqual({ later: 'viewer', roles: [] })
    await api.db.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role)
       SELECT id, $1, 'editor' FROM workspaces WHERE organization_id = $2 LIMIT 1`,
      [userId, id],
    )
    expect(await signInWith(['guests'])).toMatchObject({ roles: ['editor'] })
    expect(await signInWith(['staff'])).toMatchObject({ roles: ['viewer'] })
    expect(await signInWith(['guests'])).toMatchObject({ later: 'viewer', roles: [] })
    await signInWith(['guests'])
    await signInWith(['staff'])
    const { rows } = await api.db.query(
      `SELECT action, details::json AS details FROM audit_log
       WHERE user_id = $1 AND workspace_id IS NOT NULL AND object_id = $2 ORDER BY id`,
      [userId, toId('user', userId)],
    )
    const by = 'oidc'
    expect(rows).toEqual([
      { action: 'workspace_member.role_changed', details: { from: 'editor', to: 'viewer', by } },
      { action: 'workspace_member.removed', details: { by } },
      { action: 'workspace_member.added', details: { role: 'viewer', by } },
    ])
  })

  it('makes no other owner of an organization whose owner is suspended', async () => {
    const id = fromId('org', await mappedOrganization())
    const sub = newUuid()
    const roleWith = async (groups: string[]) =>
      (await me((await signIn({ sub, groups })).session)).organizations[0]?.role
    await roleWith(['staff'])
    await api.db.query(
      `UPDATE memberships SET joined_at = joined_at - interval '1 day' WHERE organization_id = $1 AND role <> 'owner'`,
      [id],
    )
    const suspend = (at: string) =>
      api.db.query(
        `UPDATE users SET suspended_at = ${at} FROM memberships m WHERE m.user_id = users.id AND m.organization_id = $1
         AND m.role = 'owner'`,
        [id],
      )
    await suspend('now()')
    expect(await roleWith(['owners'])).toBe('member')
    await suspend('NULL')
    expect([await roleWith(['owners']), await roleWith(['staff'])]).toEqual(['owner', 'member'])
  })

  it('removes a role that the mapping does not give, but keeps the last owner', async () => {
    const id = await mappedOrganization()
    const { rows } = await api.db.query<{ email: string }>(
      `SELECT email FROM users u JOIN memberships m ON m.user_id = u.id
       WHERE m.organization_id = $1 AND m.role = 'owner'`,
      [fromId('org', id)],
    )
    const email = rows[0]?.email ?? ''
    const sub = newUuid()
    expect((await me((await signIn({ sub, email, groups: ['staff'] })).session)).organizations).toMatchObject([
      { role: 'owner' },
    ])
    await api.db.query(
      `INSERT INTO memberships (organization_id, user_id, role)
       SELECT m.organization_id, (SELECT id FROM users WHERE email = $1), 'owner' FROM memberships m
       WHERE m.organization_id = $2 LIMIT 1`,
      [api.caller.email, fromId('org', id)],
    )
    expect((await me((await signIn({ sub, email, groups: ['staff'] })).session)).organizations).toMatchObject([
      { role: 'member' },
    ])
  })

  it('refuses a response without all groups', async () => {
    const { location } = await signIn({ groups: undefined, _claim_names: { groups: 'src1' } })
    expect(location).toBe('/sign-in?error=groups_missing')
  })

  it('links an account with a confirmed address, which keeps its password', async () => {
    const { email } = await anOwner({ isConfirmed: true })
    const { session } = await signIn({ email })
    const own = await me(session)
    expect(own.organizations.some(({ role }: Json) => role === 'owner')).toBe(true)
    const login = await api.send('POST', '/api/v1/auth/login', { email, password: 'correct horse battery' })
    expect(login.status).toBe(200)
    const log = await api.send('GET', '/api/v1/auth/log', undefined, as(session))
    expect(log.body.data.map(({ action }: Json) => action)).toContain('identity_linked')
  })

  it('ends the password, the second factors and the sessions of an account that never confirmed its address', async () => {
    const { email, session: old } = await anOwner({ isConfirmed: false })
    await api.db.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
       SELECT gen_random_uuid(), id, 'of another person', '', 0, '{}', 'Phone' FROM users WHERE email = $1`,
      [email],
    )
    const { session } = await signIn({ email })
    expect((await me(session)).user.email).toBe(email)
    expect((await api.send('GET', '/api/v1/auth/factors', undefined, as(session))).body.passkeys).toEqual([])
    const login = await api.send('POST', '/api/v1/auth/login', { email, password: 'correct horse battery' })
    expect(login.status).toBe(401)
    expect((await api.send('GET', '/api/v1/auth/me', undefined, old)).status).toBe(401)
  })

  it('does not open an account that is linked to another subject', async () => {
    const email = `${newUuid()}@example.com`
    await signIn({ email })
    expect(await signIn({ email })).toMatchObject({ location: '/sign-in?error=linked_to_another', session: '' })
  })

  it('creates an account with an open invitation, and none for other users', async () => {
    const email = `${newUuid()}@example.com`
    const refused = { location: '/sign-in?error=no_account', session: '' }
    expect(await signIn({ email, groups: [] })).toMatchObject(refused)
    const { organizationId, token } = api.caller
    await api.send(
      'POST',
      `/api/v1/organizations/${organizationId}/invitations`,
      { email, role: 'member' },
      {
        Authorization: `Bearer ${token}`,
      },
    )
    const { session } = await signIn({ email, groups: [] })
    expect((await me(session)).organizations).toEqual([])
  })

  it('refuses a suspended user', async () => {
    const sub = newUuid()
    const { user } = await me((await signIn({ sub })).session)
    await api.db.query('UPDATE users SET suspended_at = now() WHERE email = $1', [user.email])
    expect((await signIn({ sub })).location).toBe('/sign-in?error=suspended')
  })

  it('signs out at the issuer', async () => {
    oidc.issuer.metadata = { end_session_endpoint: `${oidc.issuer.url}/logout` }
    const { session } = await signIn()
    const { body } = await api.send('POST', '/api/v1/auth/oidc/logout', undefined, as(session))
    // The metadata from before the change have no such endpoint.
    expect(body).toEqual({ url: null })
    expect((await api.send('GET', '/api/v1/auth/me', undefined, as(session))).status).toBe(401)
    oidc.issuer.metadata = {}
  })

  it('deletes an account without a password soon after the sign-in', async () => {
    const sub = newUuid()
    const { session } = await signIn({ sub })
    const remove = (cookie: string) => api.send('POST', '/api/v1/auth/me/delete', {}, as(cookie))
    await api.db.query(`UPDATE sessions SET created_at = created_at - interval '11 minutes'`)
    expect((await remove(session)).status).toBe(403)
    expect((await remove((await signIn({ sub })).session)).status).toBe(204)
  })

  it('meets the requirement of a second factor when the issuer has checked several factors', async () => {
    const id = await mappedOrganization()
    await api.db.query('UPDATE organizations SET require_second_factor = true WHERE id = $1', [fromId('org', id)])
    const sub = newUuid()
    const read = async (amr?: unknown) => {
      const { session } = await signIn({ sub, amr })
      const { status, body } = await api.send('GET', `/api/v1/organizations/${id}`, undefined, as(session))
      return body.code ?? status
    }
    for (const amr of [undefined, ['pwd'], 'mfa']) expect(await read(amr)).toBe('second_factor_required')
    expect(await read(['pwd', 'otp', 'mfa'])).toBe(200)
  })

  it('is the confirmation of a user without a password, for ten minutes', async () => {
    const sub = newUuid()
    const { session } = await signIn({ sub })
    const start = (cookie: string) => api.send('POST', '/api/v1/auth/factors/totp', undefined, as(cookie))
    await api.db.query(`UPDATE sessions SET created_at = created_at - interval '11 minutes'`)
    expect((await start(session)).body).toMatchObject({ code: 'step_up_required', factors: [] })
    expect((await start((await signIn({ sub })).session)).status).toBe(200)
  })

  it('is listed among the methods, with what operators have to know', async () => {
    expect((await api.send('GET', '/api/v1/auth/methods')).body).toEqual({
      password: true,
      oidc: { name: 'Acme ID', available: true },
    })
    await mappedOrganization()
    expect(await warnOfOidc(api.ctx)).toEqual(['OIDC_GROUP_ROLES: there is no organization no-such-organization.'])
  })
})
