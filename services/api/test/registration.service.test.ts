import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fromId } from '@belfry/domain/id'
import { TOTP } from 'otpauth'
import { afterAll, describe, expect, it } from 'vitest'
import { anOrganization, aPerson } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { useApi } from './setup.ts'

const path = '/api/v1/auth/register'
const newEmail = (domain = 'example.com') => `${crypto.randomUUID()}@${domain}`
const anAccount = (email = newEmail()) => ({ email, password: 'correct horse battery', name: 'Ada' })
const mailInTotal = createHash('sha256').update('mail').digest('base64url')
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

describe('by default', () => {
  const api = useApi({ REGISTRATION: '' }, { isAlone: true })

  it('is closed once an account exists, except by invitation', async () => {
    expect((await api.send('GET', path)).body).toEqual({ registration: 'invite', domains: [], check_url: null })
    const refused = await api.send('POST', path, anAccount())
    expect([refused.status, refused.body.code]).toEqual([403, 'registration_closed'])
    expect(refused.body.detail).toContain('by invitation only')
    const [organization, email] = [await anOrganization(api), newEmail()]
    const invitation = { email, role: 'member' }
    const invitations = `/api/v1/organizations/${organization.id}/invitations`
    await api.send('POST', invitations, invitation, organization.owner.session)
    const body = { token: await tokenFor(api, email), name: 'Grace', password: 'correct horse battery' }
    expect(await api.send('POST', '/api/v1/invitations/accept', body)).toMatchObject({ status: 200 })
  })

  it('lets exactly one of many concurrent users create the first account', async () => {
    await api.db.query('DELETE FROM users')
    expect((await api.send('GET', path)).body.registration).toBe('open')
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.send('POST', path, anAccount())))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(403)])
    expect(await api.count('users')).toBe(1)
  })
})

describe('with REGISTRATION=closed', () => {
  const api = useApi({}, { isAlone: true })

  it('not even an invitation or the first user creates an account', async () => {
    const [organization, email] = [await anOrganization(api), newEmail()]
    const invitations = `/api/v1/organizations/${organization.id}/invitations`
    await api.send('POST', invitations, { email, role: 'member' }, organization.owner.session)
    const token = await tokenFor(api, email)
    Object.assign(api.ctx.config, { registration: 'closed' })
    const account = { token, name: 'Grace', password: 'correct horse battery' }
    const accepted = await api.send('POST', '/api/v1/invitations/accept', account)
    expect([accepted.status, accepted.body.code]).toEqual([403, 'registration_closed'])
    await api.db.query('DELETE FROM users')
    expect(await api.send('POST', path, anAccount())).toMatchObject({ status: 403 })
  })
})

describe('with a mail server and domains', () => {
  const mailing = { SMTP_URL: 'smtp://mail.test', REGISTRATION_DOMAINS: 'Example.com, example.org' }
  const api = useApi(mailing)
  const confirm = (link: string, session = {}) =>
    api.send('POST', '/api/v1/auth/email/confirm', { token: link }, session)
  const createOrganization = (token: string) =>
    api.send('POST', '/api/v1/organizations', { name: 'Acme' }, bearer(token))

  it('accepts addresses of these domains only', async () => {
    expect((await api.send('GET', path)).body).toEqual({
      registration: 'open',
      domains: ['example.com', 'example.org'],
      check_url: null,
    })
    expect(await api.send('POST', path, anAccount(newEmail('EXAMPLE.org')))).toMatchObject({ status: 201 })
    const refused = await api.send('POST', path, anAccount(newEmail('evil.example')))
    expect([refused.status, refused.body.code]).toEqual([403, 'registration_closed'])
  })

  it('creates no organization before the address is confirmed with the link of a mail', async () => {
    const account = anAccount()
    const { token } = (await api.send('POST', path, account)).body
    const refused = await createOrganization(token)
    expect([refused.status, refused.body.code]).toEqual([403, 'email_not_confirmed'])
    const me = () => api.send('GET', '/api/v1/auth/me', undefined, bearer(token))
    expect((await me()).body.must_confirm_email).toBe(true)
    const link = await tokenFor(api, account.email)
    expect((await mailsTo(api, account.email))[0]?.text).toContain(`http://belfry.test/confirm-email#${link}\n`)
    expect((await confirm('wrong')).body.errors[0].code).toBe('invalid_token')
    expect(await confirm(link, bearer(token))).toMatchObject({ status: 204 })
    expect(await confirm(link)).toMatchObject({ status: 400 })
    expect((await me()).body.must_confirm_email).toBe(false)
    expect(await createOrganization(token)).toMatchObject({ status: 201 })
  })

  it('sends at most a few links to an address, each of which expires', async () => {
    const account = anAccount()
    const { token } = (await api.send('POST', path, account)).body
    const resend = () => api.send('POST', '/api/v1/auth/email/resend', undefined, bearer(token))
    for (let i = 0; i < 7; i++) expect(await resend()).toMatchObject({ status: 202 })
    expect(await mailsTo(api, account.email)).toHaveLength(5)
    await api.db.query(`UPDATE email_confirmations SET expires_at = now() - interval '1 second'`)
    expect(await confirm(await tokenFor(api, account.email))).toMatchObject({ status: 400 })
  })

  describe.each(['reset', 'confirmation'])('the first proof of an address, by a %s,', proof => {
    it('ends the password, factors, sessions and sign-ins of the stranger who registered it', async () => {
      const { email, token, password } = await aSquatter()
      const login = (given: string) => api.send('POST', '/api/v1/auth/login', { email, password: given })
      const waiting = (await login(password)).body.sign_in_token
      if (proof === 'confirmation') {
        const [link, stranger] = [await tokenFor(api, email), await aPerson(api)]
        expect(await confirm(link, stranger.session)).toMatchObject({ status: 204 })
        expect(await login(password)).toMatchObject({ status: 401 })
      }
      expect(await reset(email)).toMatchObject({ status: 204 })
      expect(await login(password)).toMatchObject({ status: 401 })
      expect(await api.send('GET', '/api/v1/auth/me', undefined, bearer(token))).toMatchObject({ status: 401 })
      const body = { sign_in_token: waiting, code: '123456' }
      expect(await api.send('POST', '/api/v1/auth/login/factor', body)).toMatchObject({ status: 401 })
      const session = bearer((await login(own)).body.token)
      const factors = await api.send('GET', '/api/v1/auth/factors', undefined, session)
      expect(factors.body).toEqual({ passkeys: [], totp: null, recovery_codes_left: 0 })
      const log = (await api.send('GET', '/api/v1/auth/log', undefined, session)).body.data
      expect(log.map((entry: { action: string }) => entry.action)).toContain('factor_removed')
      const mails = (await mailsTo(api, email)).filter(({ text }) => text.includes('second factors were removed'))
      expect(mails).toHaveLength(1)
      expect(await createOrganization((await login(own)).body.token)).toMatchObject({ status: 201 })
    })

    it('keeps the factors of a member: the first account may be older than the mail server', async () => {
      const { email } = await aSquatter()
      const { id } = await anOrganization(api)
      const joins = `INSERT INTO memberships (organization_id, user_id, role) SELECT $1, id, 'owner' FROM users WHERE email = $2`
      await api.db.query(joins, [fromId('org', id), email])
      if (proof === 'confirmation') expect(await confirm(await tokenFor(api, email))).toMatchObject({ status: 204 })
      expect(await reset(email)).toMatchObject({ status: 204 })
      const login = await api.send('POST', '/api/v1/auth/login', { email, password: own })
      expect([login.status, login.body.code]).toEqual([403, 'second_factor_required'])
    })
  })

  const own = 'a password of the owner'
  async function reset(email: string) {
    await api.send('POST', '/api/v1/auth/password/forgot', { email })
    return api.send('POST', '/api/v1/auth/password/reset', { token: await tokenFor(api, email), password: own })
  }

  /** Registers an address and protects the account with an authenticator app. */
  async function aSquatter() {
    const account = anAccount()
    const { token } = (await api.send('POST', path, account)).body
    const factors = '/api/v1/auth/factors/totp'
    const { secret } = (await api.send('POST', factors, undefined, bearer(token))).body
    const code = new TOTP({ secret }).generate({ timestamp: api.ctx.clock.now() })
    expect(await api.send('POST', `${factors}/confirm`, { code }, bearer(token))).toMatchObject({ status: 200 })
    return { ...account, token }
  }

  it('an unconfirmed address gets its confirmation, and no notices', async () => {
    const account = anAccount()
    const { token } = (await api.send('POST', path, account)).body
    const { email, password } = account
    for (const agent of ['curl/8', 'Firefox/145.0', 'evil.example'])
      await api.send('POST', '/api/v1/auth/login', { email, password }, { 'User-Agent': agent })
    const change = { current_password: password, password: 'another good password' }
    expect(await api.send('PATCH', '/api/v1/auth/me', change, bearer(token))).toMatchObject({ status: 200 })
    const subjects = async () => (await mailsTo(api, email)).map(({ subject }) => subject)
    expect(await subjects()).toEqual(['Confirm your email address for Belfry'])
    await confirm(await tokenFor(api, email), bearer(token))
    const login = { email, password: change.password }
    expect(await api.send('POST', '/api/v1/auth/login', login, { 'User-Agent': 'Chrome/142' })).toMatchObject({
      status: 200,
    })
    expect(await subjects()).toEqual(['Confirm your email address for Belfry', 'New sign-in to Belfry'])
  })

  it('sends so many mails to strangers at most, and one more per hour for each network', async () => {
    const inADay = `clock_timestamp() + interval '1 day'`
    await api.db.query(
      `INSERT INTO throttles (name, free_at) VALUES ($1, ${inADay}) ON CONFLICT (name) DO UPDATE SET free_at = ${inADay}`,
      [mailInTotal],
    )
    const mailsOf = async (address: string) => {
      const account = anAccount()
      expect(await api.send('POST', path, account, { 'X-Forwarded-For': address })).toMatchObject({ status: 201 })
      return (await mailsTo(api, account.email)).length
    }
    const sent = [await mailsOf('192.0.2.1'), await mailsOf('192.0.2.1'), await mailsOf('192.0.2.2')]
    await api.db.query('DELETE FROM throttles WHERE name = $1', [mailInTotal])
    expect(sent).toEqual([1, 0, 1])
  })

  it('lets 20 accounts be made from one address at once, and more with invitations', async () => {
    const [address, email] = ['192.0.2.9', newEmail()]
    const name = createHash('sha256').update(`registration from ${address}`).digest('base64url')
    const ofNineteen = `INSERT INTO throttles (name, free_at) VALUES ($1, clock_timestamp() + 19 * interval '299 seconds')`
    await api.db.query(ofNineteen, [name])
    const register = () => api.send('POST', path, anAccount(), { 'X-Forwarded-For': address })
    expect(await register()).toMatchObject({ status: 201 })
    expect(await register()).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    const organization = await anOrganization(api)
    const invitations = `/api/v1/organizations/${organization.id}/invitations`
    await api.send('POST', invitations, { email, role: 'member' }, organization.owner.session)
    const body = { token: await tokenFor(api, email), name: 'Grace', password: 'correct horse battery' }
    const accept = api.send('POST', '/api/v1/invitations/accept', body, { 'X-Forwarded-For': address })
    expect(await accept).toMatchObject({ status: 200 })
  })

  it('a reset of the password confirms the address too', async () => {
    const account = anAccount()
    await api.send('POST', path, account)
    await api.send('POST', '/api/v1/auth/password/forgot', { email: account.email })
    const reset = { token: await tokenFor(api, account.email), password: 'another good password' }
    expect(await api.send('POST', '/api/v1/auth/password/reset', reset)).toMatchObject({ status: 204 })
    const login = { email: account.email, password: reset.password }
    const { token } = (await api.send('POST', '/api/v1/auth/login', login)).body
    expect(await createOrganization(token)).toMatchObject({ status: 201 })
  })
})

describe('with REGISTRATION_CHECK_URL', () => {
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', part => {
      text += part
    })
    request.on('end', () => {
      const { token, ...about } = JSON.parse(text)
      asked.push(about)
      if (token === 'silent') response.destroy()
      else response.writeHead(Number(token ?? 403), { Location: '/' }).end()
    })
  })
  afterAll(() => server.close())
  const api = useApi(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return { REGISTRATION_CHECK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check` }
  })

  it('shows the page, and creates an account only with a token that it accepts', async () => {
    await aPerson(api) // the first account needs no check
    expect((await api.send('GET', path)).body.check_url).toMatch(/\/check$/)
    const account = anAccount()
    const register = (check_token?: string) =>
      api.send('POST', path, { ...account, check_token }, { 'X-Forwarded-For': '192.0.2.7' })
    for (const token of [undefined, '403', '404']) {
      const { status, body } = await register(token)
      expect([status, body.errors]).toMatchObject([400, [{ path: 'check_token', code: 'invalid_token' }]])
    }
    for (const token of ['500', '302', 'silent']) {
      const { status, body } = await register(token)
      expect([status, body.code]).toEqual([503, 'unavailable'])
    }
    expect(await register('204')).toMatchObject({ status: 201 })
    expect(asked).toEqual(Array(7).fill({ email: account.email, address: '192.0.2.7' }))
  })
})

describe('a user', () => {
  const api = useApi()

  it('owns at most three organizations, also with concurrent requests', async () => {
    const { session } = await aPerson(api)
    const create = () => api.send('POST', '/api/v1/organizations', { name: 'Acme' }, session)
    const answers = await Promise.all(Array.from({ length: 30 }, create))
    expect(answers.map(({ status, body }) => body.code ?? status).sort()).toEqual([
      ...[201, 201, 201],
      ...Array(27).fill('organization_limit_reached'),
    ])
    const { body } = await api.send('GET', '/api/v1/organizations', undefined, session)
    await api.send('DELETE', `/api/v1/organizations/${body.data[0].id}`, undefined, session)
    expect(await create()).toMatchObject({ status: 201 })
  })

  it('gets no further one by a role, a transfer or an invitation', async () => {
    const [first, second] = [await anOrganization(api), await anOrganization(api)]
    const [person, other] = [await first.add('member'), await first.add('owner')]
    const own = async () => (await api.send('POST', '/api/v1/organizations', { name: 'Acme' }, person.session)).body.id
    const ids = [await own(), await own(), await own()]
    const invitation = { email: person.email, role: 'owner' }
    await api.send('POST', `/api/v1/organizations/${second.id}/invitations`, invitation, second.owner.session)
    const token = await tokenFor(api, person.email)
    const path = `/api/v1/organizations/${first.id}`
    const ways = [
      () => api.send('PATCH', `${path}/members/${person.id}`, { role: 'owner' }, first.owner.session),
      () => api.send('POST', '/api/v1/invitations/accept', { token }, person.session),
      () => api.send('POST', `${path}/transfer`, { user_id: person.id }, other.session),
    ]
    const tryAll = async () => {
      const answers = await Promise.all(ways.map(way => way()))
      return answers.map(({ status, body }) => body.code ?? status).sort()
    }
    expect(await tryAll()).toEqual(Array(3).fill('organization_limit_reached'))
    await api.send('DELETE', `/api/v1/organizations/${ids[0]}`, undefined, person.session)
    ways.pop() // it would pass after the first, which makes the user an owner there
    expect(await tryAll()).toEqual([200, 'organization_limit_reached'])
    expect(await api.count(`memberships WHERE role = 'owner' AND user_id = '${person.userId}'`)).toBe(3)
  })
})

describe('without TIER_CHANGES', () => {
  const api = useApi({ TIER_CHANGES: '' })

  it('owners cannot choose a tier', async () => {
    const { id, owner } = await anOrganization(api)
    const subscription = `/api/v1/organizations/${id}/subscription`
    const refused = await api.send('PUT', subscription, { tier: 'unicorn' }, owner.session)
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    expect(refused.body.detail).toContain('operator')
    expect((await api.send('GET', subscription, undefined, owner.session)).body).toMatchObject({
      tier: 'free',
      available_tiers: [],
    })
  })
})
