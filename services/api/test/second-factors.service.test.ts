import { createHash } from 'node:crypto'
import { keyRights } from '@belfry/domain/permissions'
import { TOTP } from 'otpauth'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { anAuthenticator } from './authenticator.ts'
import { anOperator, password } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { type Caller, type Json, useApi } from './setup.ts'

const operatorAddress = 'root@operators.example'
const api = useApi({ OPERATORS: operatorAddress })

const sessionOf = (token: string) => ({ Authorization: `Bearer ${token}` })

// Each user has an address of its own, and with it its own limits.
let users = 0
async function aUser() {
  const address = { 'X-Forwarded-For': `192.0.2.${++users}` }
  const caller = await api.signUp()
  await api.db.query('UPDATE users SET email_confirmed_at = now() WHERE email = $1', [caller.email])
  const session = sessionOf(caller.token)
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = session) =>
    api.send(method, `/api/v1/auth/${path}`, body, { ...address, ...headers })
  return { ...caller, session, send, address: address['X-Forwarded-For'] }
}

type User = Awaited<ReturnType<typeof aUser>>

const logIn = (user: User) => user.send('POST', 'login', { email: user.email, password }, {})
const continueWith = (user: User, token: string, proof: unknown) =>
  user.send('POST', 'login/factor', { sign_in_token: token, ...(proof as object) }, {})

async function addApp(user: User): Promise<{ totp: TOTP; codes: string[]; first: string }> {
  const { secret } = (await user.send('POST', 'factors/totp')).body
  const totp = new TOTP({ secret })
  const first = totp.generate({ timestamp: api.ctx.clock.now() })
  const added = await user.send('POST', 'factors/totp/confirm', { code: first })
  expect(added.status).toBe(200)
  return { totp, codes: added.body.recovery_codes, first }
}

/** The code of the next time step, which the tolerance for clocks allows. */
const nextCode = (totp: TOTP) => totp.generate({ timestamp: api.ctx.clock.now() + 30_000 })

async function addPasskey(user: User, authenticator = anAuthenticator()) {
  const options = (await user.send('POST', 'factors/passkeys/options')).body
  const added = await user.send('POST', 'factors/passkeys', { name: 'Laptop', passkey: authenticator.make(options) })
  expect(added.status).toBe(201)
  return { authenticator, added: added.body }
}

/** Moves the latest confirmation of all sessions of a user into the past. */
async function letTimePass({ email }: Caller) {
  await api.db.query(
    `UPDATE sessions SET confirmed_at = now() - interval '11 minutes'
     WHERE user_id = (SELECT id FROM users WHERE email = $1)`,
    [email],
  )
}

const codeOf = ({ status, body }: Json) => [status, body?.code]

describe('an authenticator app', () => {
  it('is asked for after the password, ends the other sessions, and is mailed', async () => {
    const user = await aUser()
    const other = (await logIn(user)).body.token
    const { totp, codes } = await addApp(user)
    expect(codes).toHaveLength(10)
    expect((await user.send('GET', 'me', undefined, sessionOf(other))).status).toBe(401)
    const asked = await logIn(user)
    expect(codeOf(asked)).toEqual([403, 'second_factor_required'])
    expect(asked.body.factors).toEqual(['totp', 'recovery_code'])
    expect(asked.headers.get('set-cookie')).toBeNull()
    const signedIn = await continueWith(user, asked.body.sign_in_token, { code: nextCode(totp) })
    expect([signedIn.status, signedIn.body.user.email]).toEqual([200, user.email])
    const subjects = (await mailsTo(api, user.email)).map(({ text }) => text)
    expect(subjects.some(text => text.includes('An authenticator app was added.'))).toBe(true)
    const factors = (await user.send('GET', 'factors')).body
    expect([factors.totp === null, factors.recovery_codes_left]).toEqual([false, 10])
  })

  it('accepts each code once, and of two requests at the same time one', async () => {
    const user = await aUser()
    const { totp, first } = await addApp(user)
    const token = (await logIn(user)).body.sign_in_token
    expect((await continueWith(user, token, { code: first })).status).toBe(401)
    const code = nextCode(totp)
    const both = await Promise.all([1, 2].map(() => continueWith(user, token, { code })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('stores its secret encrypted', async () => {
    const user = await aUser()
    const { totp } = await addApp(user)
    const { rows } = await api.db.query('SELECT sealed_secret FROM totp_factors')
    for (const { sealed_secret: sealed } of rows) {
      expect(Buffer.from(sealed).includes(totp.secret.base32)).toBe(false)
      expect(Buffer.from(sealed).includes(Buffer.from(totp.secret.bytes))).toBe(false)
    }
  })

  it('cannot be guessed from many networks', async () => {
    const user = await aUser()
    const { totp } = await addApp(user)
    const token = (await logIn(user)).body.sign_in_token
    const guess = (code: string, i: number) =>
      api.send(
        'POST',
        '/api/v1/auth/login/factor',
        { sign_in_token: token, code },
        { 'X-Forwarded-For': `198.51.${i}.1` },
      )
    const statuses: number[] = []
    for (let i = 0; i < 14; i++) statuses.push((await guess('000000', i)).status)
    expect(statuses.filter(status => status === 401).length).toBeLessThanOrEqual(10)
    expect(statuses.at(-1)).toBe(429)
    expect((await guess(nextCode(totp), 99)).status).toBe(429)
  })
})

describe('recovery codes', () => {
  it('work once each, and of two requests at the same time one', async () => {
    const user = await aUser()
    const { codes } = await addApp(user)
    const token = (await logIn(user)).body.sign_in_token
    const other = (await logIn(user)).body.sign_in_token
    const both = await Promise.all([token, other].map(one => continueWith(user, one, { recovery_code: codes[0] })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    expect((await user.send('GET', 'factors')).body.recovery_codes_left).toBe(9)
  })

  it('are replaced by new ones', async () => {
    const user = await aUser()
    const { codes } = await addApp(user)
    const next = (await user.send('POST', 'factors/recovery-codes')).body.recovery_codes
    const token = (await logIn(user)).body.sign_in_token
    expect((await continueWith(user, token, { recovery_code: codes[0] })).status).toBe(401)
    const spaced = next[0].toUpperCase().replaceAll('-', ' ')
    expect((await continueWith(user, token, { recovery_code: spaced })).status).toBe(200)
  })
})

it.each([
  ['a confirmed', 'now()'],
  ['an unconfirmed', 'NULL'],
])('a reset of the password keeps the factors with %s address, and ends sign-ins that wait', async (_, at) => {
  const user = await aUser()
  await api.db.query(`UPDATE users SET email_confirmed_at = ${at} WHERE email = $1`, [user.email])
  const { totp } = await addApp(user)
  const token = (await logIn(user)).body.sign_in_token
  await user.send('POST', 'password/forgot', { email: user.email }, {})
  const reset = { token: await tokenFor(api, user.email), password }
  expect((await user.send('POST', 'password/reset', reset, {})).status).toBe(204)
  expect((await continueWith(user, token, { code: nextCode(totp) })).status).toBe(401)
  expect(codeOf(await logIn(user))).toEqual([403, 'second_factor_required'])
})

describe('a passkey', () => {
  it('signs in by itself, and as the second factor', async () => {
    const user = await aUser()
    const { authenticator, added } = await addPasskey(user)
    expect([added.name, added.recovery_codes.length]).toEqual(['Laptop', 10])
    const options = (await user.send('POST', 'login/passkey/options', {}, {})).body
    expect([options.userVerification, options.allowCredentials]).toEqual(['required', undefined])
    const signedIn = await user.send('POST', 'login/passkey', { passkey: authenticator.sign(options) }, {})
    expect([signedIn.status, signedIn.body.user?.email]).toEqual([200, user.email])
    const asked = await logIn(user)
    const { sign_in_token } = asked.body
    const second = (await user.send('POST', 'login/passkey/options', { sign_in_token }, {})).body
    expect(second.allowCredentials.map(({ id }: Json) => id)).toEqual([authenticator.id])
    const passkey = authenticator.sign(second, { isVerified: false })
    expect((await continueWith(user, sign_in_token, { passkey })).status).toBe(200)
  })

  it.each([
    ['another origin', { origin: 'http://evil.test' }],
    ['another relying party', { rpId: 'evil.test' }],
    ['another type', { type: 'webauthn.create' }],
    ['no verified user', { isVerified: false }],
  ])('is refused with %s', async (_name, changes) => {
    const user = await aUser()
    const { authenticator } = await addPasskey(user)
    const options = (await user.send('POST', 'login/passkey/options', {}, {})).body
    const passkey = authenticator.sign(options, changes)
    expect((await user.send('POST', 'login/passkey', { passkey }, {})).status).toBe(401)
  })

  it('is refused a second time, also at the same time, and without a challenge of ours', async () => {
    const user = await aUser()
    const { authenticator } = await addPasskey(user)
    const options = (await user.send('POST', 'login/passkey/options', {}, {})).body
    const passkey = authenticator.sign(options)
    const both = await Promise.all([1, 2].map(() => user.send('POST', 'login/passkey', { passkey }, {})))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    expect((await user.send('POST', 'login/passkey', { passkey }, {})).status).toBe(401)
    const own = authenticator.sign({ ...options, challenge: 'AAAA' })
    expect((await user.send('POST', 'login/passkey', { passkey: own }, {})).status).toBe(401)
  })

  it('of another user, and a challenge of another user, are refused', async () => {
    const [user, other] = [await aUser(), await aUser()]
    await addPasskey(user)
    const { authenticator } = await addPasskey(other)
    const { sign_in_token } = (await logIn(user)).body
    const options = (await user.send('POST', 'login/passkey/options', { sign_in_token }, {})).body
    const foreign = await continueWith(user, sign_in_token, { passkey: authenticator.sign(options) })
    expect(foreign.status).toBe(401)
    // The challenge of a second factor is none of a sign-in by passkey alone.
    const waiting = (await logIn(other)).body.sign_in_token
    const second = (await other.send('POST', 'login/passkey/options', { sign_in_token: waiting }, {})).body
    const alone = await other.send('POST', 'login/passkey', { passkey: authenticator.sign(second) }, {})
    expect(alone.status).toBe(401)
    const made = (await user.send('POST', 'factors/passkeys/options')).body
    const stolen = { name: 'Mine', passkey: anAuthenticator().make(made) }
    expect((await other.send('POST', 'factors/passkeys', stolen)).status).toBe(400)
    const twice = (await user.send('POST', 'factors/passkeys/options')).body
    const taken = await user.send('POST', 'factors/passkeys', { name: 'Mine', passkey: authenticator.make(twice) })
    expect(codeOf(taken)).toEqual([409, 'conflict'])
  })
})

it('an account has at most 20 passkeys', async () => {
  const user = await aUser()
  await addPasskey(user)
  const add = async () => {
    const options = (await user.send('POST', 'factors/passkeys/options')).body
    return user.send('POST', 'factors/passkeys', { name: 'Key', passkey: anAuthenticator().make(options) })
  }
  const addRows = (count: number) =>
    api.db.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
       SELECT gen_random_uuid(), id, gen_random_uuid(), '', 0, '{}', 'Key' FROM users, generate_series(1, $2)
       WHERE email = $1`,
      [user.email, count],
    )
  await addRows(18)
  expect((await add()).status).toBe(201)
  expect(codeOf(await add())).toEqual([409, 'conflict'])
  expect((await user.send('GET', 'factors')).body.passkeys).toHaveLength(20)
})

describe('a confirmation', () => {
  afterEach(() => vi.useRealTimers())

  it('is dated by the clock of PostgreSQL, also when the clock of the API is an hour behind', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    const user = await aUser()
    const keys = `/api/v1/workspaces/${user.workspaceId}/api-keys`
    const inAnHour = new Date(api.ctx.clock.now() + 3_600_000).toISOString()
    const added = await api.send('POST', keys, { name: 'CI', expires_at: inAnHour }, user.session)
    expect([added.status, added.body.code]).toEqual([201, undefined])
    const rolled = await api.send('POST', `${keys}/${added.body.id}/roll`, {}, user.session)
    const lifetimeMs = Date.parse(rolled.body.expires_at) - api.ctx.clock.now()
    expect(lifetimeMs).toBeGreaterThan(3_500_000)
    expect(lifetimeMs).toBeLessThanOrEqual(3_600_000)
  })

  it('is needed for dangerous actions ten minutes after the sign-in: the password, then the factor', async () => {
    const user = await aUser()
    await letTimePass(user)
    const keys = `/api/v1/workspaces/${user.workspaceId}/api-keys`
    const dangerous = () => [
      api.send('POST', keys, { name: 'CI' }, user.session),
      api.send('DELETE', `/api/v1/workspaces/${user.workspaceId}`, undefined, user.session),
      api.send('DELETE', `/api/v1/organizations/${user.organizationId}`, undefined, user.session),
      user.send('POST', 'factors/totp'),
      user.send('POST', 'factors/passkeys/options'),
    ]
    for (const refused of await Promise.all(dangerous())) {
      expect(codeOf(refused)).toEqual([403, 'step_up_required'])
      expect(refused.body.factors).toEqual(['password'])
    }
    for (const scopes of [keyRights, ['read', 'signing_secret.read'], ['task.write']]) {
      const wide = await api.send('POST', keys, { name: 'CI', scopes }, user.session)
      expect(codeOf(wide)).toEqual([403, 'step_up_required'])
    }
    const narrow = { name: 'CI', scopes: ['read', 'publish', 'task.create'] }
    expect((await api.send('POST', keys, narrow, user.session)).status).toBe(201)
    expect((await user.send('POST', 'confirm', { password: 'wrong' })).status).toBe(400)
    expect((await user.send('POST', 'confirm', { password })).status).toBe(204)
    const { totp } = await addApp(user)
    await letTimePass(user)
    expect((await user.send('POST', 'factors/recovery-codes')).body.factors).toEqual(['totp', 'recovery_code'])
    expect((await user.send('POST', 'confirm', { password })).status).toBe(400)
    expect((await user.send('POST', 'confirm', { code: nextCode(totp) })).status).toBe(204)
    expect((await api.send('POST', keys, { name: 'CI' }, user.session)).status).toBe(201)
    expect((await user.send('DELETE', 'factors/totp')).status).toBe(204)
    expect((await user.send('GET', 'factors')).body).toEqual({ passkeys: [], totp: null, recovery_codes_left: 0 })
    expect((await logIn(user)).status).toBe(200)
  })
})

it('an organization that requires a second factor refuses sessions without one, and no API keys', async () => {
  const user = await aUser()
  const path = `/api/v1/organizations/${user.organizationId}`
  const require = (value: boolean) => api.send('PATCH', path, { require_second_factor: value }, user.session)
  expect(codeOf(await require(true))).toEqual([403, 'second_factor_required'])
  const { totp } = await addApp(user)
  expect((await require(true)).body.require_second_factor).toBe(true)
  expect((await user.send('DELETE', 'factors/totp')).status).toBe(204)
  const refused = await api.send('GET', path, undefined, user.session)
  expect([...codeOf(refused), refused.body.factors]).toEqual([403, 'second_factor_required', []])
  const workspace = await api.send('GET', `/api/v1/workspaces/${user.workspaceId}`, undefined, user.session)
  expect(codeOf(workspace)).toEqual([403, 'second_factor_required'])
  const key = { 'X-Api-Key': user.apiKey }
  expect((await api.send('GET', '/api/v1/scheduler/tasks', undefined, key)).status).toBe(200)
  expect(totp.digits).toBe(6)
  await addPasskey(user)
  expect((await api.send('GET', path, undefined, user.session)).status).toBe(200)
  await letTimePass(user)
  expect(codeOf(await require(false))).toEqual([403, 'step_up_required'])
})

it('a sign-in that waits for a second factor, and the challenge of a passkey, end after five minutes', async () => {
  const user = await aUser()
  const { totp } = await addApp(user)
  const { authenticator } = await addPasskey(user)
  const { sign_in_token: token } = (await logIn(user)).body
  const second = (await user.send('POST', 'login/passkey/options', { sign_in_token: token }, {})).body
  const alone = (await user.send('POST', 'login/passkey/options', {}, {})).body
  const { rows } = await api.db.query<{ at: Date }>('SELECT max(expires_at) AS at FROM challenges')
  // The clock of the API may be some milliseconds ahead of PostgreSQL's.
  expect(rows[0]?.at.getTime()).toBeLessThanOrEqual(api.ctx.clock.now() + 300_000)
  await api.db.query(`UPDATE challenges SET expires_at = expires_at - interval '5 minutes'`)
  const code = nextCode(totp)
  expect((await continueWith(user, token, { code })).status).toBe(401)
  expect((await continueWith(user, token, { passkey: authenticator.sign(second) })).status).toBe(401)
  expect((await user.send('POST', 'login/passkey', { passkey: authenticator.sign(alone) }, {})).status).toBe(401)
  const next = (await logIn(user)).body.sign_in_token
  expect((await continueWith(user, next, { code })).status).toBe(200)
})

/** Uses up what a network may do without an account. */
const useUp = (network: string) =>
  api.db.query(
    `INSERT INTO throttles (name, free_at) VALUES ($1, clock_timestamp() + interval '1 day')
     ON CONFLICT (name) DO UPDATE SET free_at = excluded.free_at`,
    [createHash('sha256').update(`passkey from ${network}`).digest('base64url')],
  )

it('strangers in the network of a user who has begun to sign in do not stop the second step', async () => {
  const user = await aUser()
  const { totp } = await addApp(user)
  const { authenticator } = await addPasskey(user)
  const { sign_in_token } = (await logIn(user)).body
  const begin = (body: Json) => user.send('POST', 'login/passkey/options', body, {})
  const alone = (await begin({})).body
  await useUp(user.address)
  expect((await begin({})).status).toBe(429)
  expect((await user.send('POST', 'login/passkey', { passkey: authenticator.sign(alone) }, {})).status).toBe(200)
  expect((await begin({ sign_in_token })).status).toBe(200)
  expect((await continueWith(user, sign_in_token, { code: nextCode(totp) })).status).toBe(200)
  expect((await user.send('POST', 'login/passkey', { passkey: authenticator.sign(alone) }, {})).status).toBe(429)
})

it('a network that has tried many sign-ins gets no more answers about second factors', async () => {
  const network = { 'X-Forwarded-For': '198.51.100.7' }
  const guess = () =>
    api.send('POST', '/api/v1/auth/login/factor', { sign_in_token: 'a'.repeat(43), code: '123456' }, network)
  expect(await guess()).toMatchObject({ status: 401 })
  await useUp('198.51.100.7')
  expect(await guess()).toMatchObject({ status: 429 })
})

it('an operator removes all factors of a user, who is signed out, told, and signs in with the password', async () => {
  const { token } = await anOperator(api, operatorAddress)
  const user = await aUser()
  await addApp(user)
  await addPasskey(user)
  const waiting = (await logIn(user)).body.sign_in_token
  const { id } = (await user.send('GET', 'me')).body.user
  const reset = (session: Record<string, string>) =>
    api.send('POST', `/api/v1/operator/users/${id}/factors/reset`, { reason: 'Lost the phone' }, session)
  expect((await reset(user.session)).status).toBe(403)
  expect((await reset(sessionOf(token))).status).toBe(204)
  expect((await user.send('GET', 'me')).status).toBe(401)
  expect((await continueWith(user, waiting, { code: '123456' })).status).toBe(401)
  const session = sessionOf((await logIn(user)).body.token)
  const left = (await user.send('GET', 'factors', undefined, session)).body
  expect(left).toEqual({ passkeys: [], totp: null, recovery_codes_left: 0 })
  const mails = (await mailsTo(api, user.email)).map(({ text }) => text)
  expect(mails.some(text => text.includes('removed all second factors of your account'))).toBe(true)
  const log = (await api.send('GET', '/api/v1/operator/log', undefined, sessionOf(token))).body.data
  const details = { reason: 'Lost the phone' }
  expect(log[0]).toMatchObject({ action: 'user.factors_reset', object_id: id, details })
  const path = `/api/v1/organizations/${user.organizationId}/audit-log`
  const entries = (await api.send('GET', path, undefined, session)).body.data as Json[]
  const entry = entries.find(({ action }) => action === 'member.factors_reset')
  expect(entry).toMatchObject({ actor: { user_id: null, api_key_id: null }, object_id: id })
  expect(entry?.details).toEqual({ by: 'operator' })
})
