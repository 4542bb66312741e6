import { newUuid, toId } from '@belfry/domain'
import { generateKeyPair } from 'jose'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { warnOfOidc } from '../src/oidc/warn-of-oidc.ts'
import { type FakeIssuer, startFakeIssuer } from './fake-issuer.ts'
import { anOrganization } from './organization.ts'
import { type Json, useApi } from './setup.ts'

let issuer: FakeIssuer
const mapped = newUuid()
const api = useApi(async () => {
  issuer = await startFakeIssuer()
  return {
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: 'belfry',
    OIDC_CLIENT_SECRET: 'a secret of the client',
    OIDC_NAME: 'Acme ID',
    OIDC_GROUP_ROLES: JSON.stringify({
      staff: { organization: mapped, role: 'member', workspace_role: 'viewer' },
      admins: { organization: mapped, role: 'admin' },
      lost: { organization: 'no-such-organization', role: 'owner' },
    }),
    REGISTRATION: 'invite',
  }
})
afterAll(() => issuer?.close())
beforeEach(() => {
  issuer.userInfo = {}
})

type Begun = { cookie: string; state: string; nonce: string }

async function begin(returnTo = '/'): Promise<Begun> {
  const { headers, body } = await api.send('POST', '/api/v1/auth/oidc/start', { return_to: returnTo })
  const { searchParams } = new URL(body.url)
  const [state = '', nonce = ''] = [searchParams.get('state') ?? '', searchParams.get('nonce') ?? '']
  return { cookie: cookieOf(headers, 'belfry_oidc'), state, nonce }
}

function cookieOf(headers: Headers, name: string): string {
  const cookies = headers.getSetCookie().filter(cookie => cookie.startsWith(`${name}=`))
  return cookies[0]?.split(';')[0] ?? ''
}

async function finish(begun: Begun, token: string, changes: { state?: string; iss?: string; cookie?: string } = {}) {
  const code = newUuid()
  issuer.tokens.set(code, token)
  const query = new URLSearchParams({ code, state: changes.state ?? begun.state, iss: changes.iss ?? issuer.url })
  const response = await fetch(`${api.url}/api/v1/auth/oidc/callback?${query}`, {
    headers: { Cookie: changes.cookie ?? begun.cookie },
    redirect: 'manual',
  })
  return {
    status: response.status,
    location: response.headers.get('location')?.replace('http://belfry.test', ''),
    session: cookieOf(response.headers, 'belfry_session'),
    ended: response.headers.getSetCookie().some(cookie => cookie.startsWith('belfry_oidc=;')),
  }
}

const claimsOf = (begun: Begun, changes: Json = {}) => ({
  ...{ sub: newUuid(), aud: 'belfry', nonce: begun.nonce },
  ...{ email: `${newUuid()}@example.com`, email_verified: true, name: 'Ada' },
  ...changes,
})

/** Signs in with an honest token with these claims. */
async function signIn(changes: Json = {}, returnTo = '/') {
  const begun = await begin(returnTo)
  issuer.userInfo = { sub: changes.sub }
  const claims = claimsOf(begun, { ...changes, groups: changes.groups ?? ['staff'] })
  issuer.userInfo.sub = claims.sub
  return finish(begun, await issuer.sign(claims))
}

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
    expect(url.origin + url.pathname).toBe(`${issuer.url}/authorize`)
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
    const identity = { issuer: issuer.url, subject: expect.any(String), created_at: expect.any(String) }
    expect(exported.body.identities).toEqual([identity])
    expect(exported.body.second_factors).toEqual({ passkeys: [], totp: null, recovery_codes_left: 0 })
  })

  it('reads claims that only the user info endpoint has', async () => {
    await mappedOrganization()
    const begun = await begin()
    const sub = newUuid()
    issuer.userInfo = { sub, email: `${sub}@example.com`, email_verified: true, groups: ['admins'] }
    const { session } = await finish(begun, await issuer.sign({ sub, aud: 'belfry', nonce: begun.nonce }))
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
       WHERE public_id('org', organization_id) = $1 AND action IN ('member.role_changed', 'member.removed') ORDER BY id`,
      [id],
    )
    expect(rows.slice(-2)).toEqual([
      { action: 'member.role_changed', by: 'oidc' },
      { action: 'member.removed', by: 'oidc' },
    ])
  })

  it('removes a role that the mapping does not give, but keeps the last owner', async () => {
    const id = await mappedOrganization()
    const { rows } = await api.db.query<{ email: string }>(
      `SELECT email FROM users u JOIN memberships m ON m.user_id = u.id
       WHERE public_id('org', m.organization_id) = $1 AND m.role = 'owner'`,
      [id],
    )
    const email = rows[0]?.email ?? ''
    const sub = newUuid()
    expect((await me((await signIn({ sub, email, groups: ['staff'] })).session)).organizations).toMatchObject([
      { role: 'owner' },
    ])
    await api.db.query(
      `INSERT INTO memberships (organization_id, user_id, role)
       SELECT m.organization_id, (SELECT id FROM users WHERE email = $1), 'owner' FROM memberships m
       WHERE public_id('org', m.organization_id) = $2 LIMIT 1`,
      [api.caller.email, id],
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
    issuer.metadata = { end_session_endpoint: `${issuer.url}/logout` }
    const { session } = await signIn()
    const { body } = await api.send('POST', '/api/v1/auth/oidc/logout', undefined, as(session))
    // The metadata from before the change have no such endpoint.
    expect(body).toEqual({ url: null })
    expect((await api.send('GET', '/api/v1/auth/me', undefined, as(session))).status).toBe(401)
    issuer.metadata = {}
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
    await api.db.query(`UPDATE organizations SET require_second_factor = true WHERE public_id('org', id) = $1`, [id])
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

describe('an attack', () => {
  const refused = (code: string) => ({ status: 303, location: `/sign-in?error=${code}`, session: '', ended: true })

  it('cannot reuse the state of a finished sign-in', async () => {
    const begun = await begin()
    const token = await issuer.sign(claimsOf(begun, { groups: ['staff'] }))
    issuer.userInfo = { sub: JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub }
    expect((await finish(begun, token)).session).not.toBe('')
    expect(await finish(begun, token, { cookie: 'belfry_oidc=' })).toEqual(refused('expired'))
  })

  it('cannot sign a victim in: the state belongs to the browser of the attacker', async () => {
    const [attacker, victim] = [await begin(), await begin()]
    const token = await issuer.sign(claimsOf(attacker))
    expect(await finish(attacker, token, { cookie: '' })).toEqual(refused('expired'))
    expect(await finish(attacker, token, { cookie: victim.cookie })).toEqual(refused('invalid'))
  })

  it('cannot use a cookie that Belfry did not make, or of another purpose', async () => {
    const begun = await begin()
    const token = await issuer.sign(claimsOf(begun))
    const { rows } = await api.db.query<{ hint: string }>(
      'SELECT logout_hint AS hint FROM sessions WHERE logout_hint IS NOT NULL LIMIT 1',
    )
    for (const value of ['x.y.z', `${begun.cookie.slice('belfry_oidc='.length)}x`, rows[0]?.hint]) {
      expect(await finish(begun, token, { cookie: `belfry_oidc=${value}` })).toEqual(refused('expired'))
    }
  })

  it('cannot mix up issuers', async () => {
    const begun = await begin()
    const token = await issuer.sign(claimsOf(begun))
    expect(await finish(begun, token, { iss: 'https://attacker.example' })).toEqual(refused('invalid'))
    const other = await begin()
    const ofOther = await issuer.sign(claimsOf(other, { iss: 'https://attacker.example' }))
    expect(await finish(other, ofOther)).toEqual(refused('invalid'))
  })

  it.each([
    ['for another client', { aud: 'another client' }],
    ['for several clients, without this as the authorized one', { aud: ['belfry', 'other'], azp: 'other' }],
    ['with the nonce of another sign-in', { nonce: 'another nonce' }],
    ['without a nonce', { nonce: undefined }],
    ['that has expired', { exp: Math.floor(Date.now() / 1000) - 3600 }],
  ])('cannot substitute an ID token %s', async (_what, changes) => {
    const begun = await begin()
    expect(await finish(begun, await issuer.sign(claimsOf(begun, changes)))).toEqual(refused('invalid'))
  })

  it('cannot use a token with the signature of another key, or of the client secret, or without one', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const secret = new TextEncoder().encode('a secret of the client, which is long')
    for (const by of [{ key: privateKey }, { key: secret, header: { alg: 'HS256' } }]) {
      const begun = await begin()
      expect(await finish(begun, await issuer.sign(claimsOf(begun), by))).toEqual(refused('invalid'))
    }
    const begun = await begin()
    const [, payload] = (await issuer.sign(claimsOf(begun))).split('.')
    const header = Buffer.from('{"alg":"none"}').toString('base64url')
    expect(await finish(begun, `${header}.${payload}.`)).toEqual(refused('invalid'))
  })

  it('cannot use the user info of another subject', async () => {
    const begun = await begin()
    issuer.userInfo = { sub: 'another subject', email: api.caller.email, email_verified: true }
    expect(await finish(begun, await issuer.sign({ ...claimsOf(begun), email: undefined }))).toEqual(refused('invalid'))
  })

  it.each([false, 'false', null, undefined, 1])(
    'gains nothing by an address that is not verified (%j)',
    async verified => {
      expect(await signIn({ email: api.caller.email, email_verified: verified })).toEqual(refused('email_unverified'))
    },
  )

  it('cannot verify an address by the word about another one', async () => {
    const begun = await begin()
    const claims = claimsOf(begun, { email: api.caller.email, email_verified: undefined })
    issuer.userInfo = { sub: claims.sub, email: 'attacker@example.com', email_verified: true }
    expect(await finish(begun, await issuer.sign(claims))).toEqual(refused('email_unverified'))
  })

  it.each(['https://attacker.example/', '//attacker.example', '/\\attacker.example'])(
    'cannot return to %s',
    async path => {
      expect((await signIn({}, path)).location).toBe('/')
    },
  )
})
