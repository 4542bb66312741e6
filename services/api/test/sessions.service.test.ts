import type { Secret, SignOptions } from 'jsonwebtoken'
import jwt from 'jsonwebtoken'
import { describe, expect, it } from 'vitest'
import { sessionMs, signSessionToken } from '../src/auth/session-token.ts'
import { aPerson } from './organization.ts'
import { useApi } from './setup.ts'

const api = useApi()
const me = '/api/v1/auth/me'
const day = 24 * 3_600_000
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const read = (headers: Record<string, string>) => api.send('GET', me, undefined, headers)

async function aSession(issuedAgoMs = 0) {
  const person = await aPerson(api, sessionMs)
  const { id } = await api.ctx.prisma.session.findFirstOrThrow({ where: { userId: person.userId } })
  const token = signSessionToken(api.ctx.config.jwtKeys[0], person.userId, id, api.ctx.clock.now() - issuedAgoMs)
  return { ...person, sessionId: id, token }
}

describe('works', () => {
  it('reads the user and the user’s organizations, and changes the name', async () => {
    const { token, email } = await aSession()
    await api.send('POST', '/api/v1/organizations', { name: 'Acme' }, bearer(token))
    const { body } = await read(bearer(token))
    expect(body).toMatchObject({ user: { email }, organizations: [{ name: 'Acme', role: 'owner' }] })
    const changed = await api.send('PATCH', me, { name: 'Ada' }, bearer(token))
    expect(changed.body.user).toEqual({ ...body.user, name: 'Ada' })
  })

  it('ends at a logout: the token is invalid, the cookie is cleared, other sessions stay', async () => {
    const { email, token } = await api.signUp()
    const again = { email, password: 'correct horse battery' }
    const other = (await api.send('POST', '/api/v1/auth/login', again)).body.token
    const left = await api.send('POST', '/api/v1/auth/logout', undefined, bearer(token))
    expect(left.status).toBe(204)
    expect(left.headers.get('set-cookie')).toMatch(/^belfry_session=; .*Expires=Thu, 01 Jan 1970/)
    expect((await read(bearer(token))).status).toBe(401)
    expect((await read(bearer(other))).status).toBe(200)
  })

  it('is renewed when its token is older than a day, as a cookie or a header like the token', async () => {
    const { token, sessionId } = await aSession(day + 1000)
    await api.ctx.prisma.session.update({
      where: { id: sessionId },
      data: { expiresAt: new Date(api.ctx.clock.now() + 60_000) },
    })
    const byBearer = await read(bearer(token))
    const renewed = byBearer.headers.get('x-session-token') ?? ''
    expect((await read(bearer(renewed))).status).toBe(200)
    const row = await api.ctx.prisma.session.findUniqueOrThrow({ where: { id: sessionId } })
    expect(row.expiresAt.getTime()).toBeGreaterThan(api.ctx.clock.now() + sessionMs - 60_000)
    const byCookie = await read({ Cookie: `belfry_session=${token}` })
    expect(byCookie.headers.get('x-session-token')).toBeNull()
    const cookie = /^belfry_session=([^;]+); Path=\/; HttpOnly; SameSite=Lax/.exec(
      byCookie.headers.get('set-cookie') ?? '',
    )
    expect((await read(bearer(cookie?.[1] ?? ''))).status).toBe(200)
  })

  it('is not renewed before, and a logout is not undone by a renewal', async () => {
    const young = await read(bearer((await aSession(day - 60_000)).token))
    expect([young.headers.get('x-session-token'), young.headers.get('set-cookie')]).toEqual([null, null])
    const { token } = await aSession(2 * day)
    const cookie = { Cookie: `belfry_session=${token}`, Origin: 'http://belfry.test' }
    const left = await api.send('POST', '/api/v1/auth/logout', undefined, cookie)
    expect(left.headers.get('set-cookie')).toMatch(/^belfry_session=;/)
    expect((await read(bearer(token))).status).toBe(401)
  })
})

describe('ends', () => {
  it('a month after its start, however often it was renewed', async () => {
    const { token, sessionId } = await aSession(2 * day)
    const startedAgo = (ms: number) =>
      api.ctx.prisma.session.update({
        where: { id: sessionId },
        data: { createdAt: new Date(api.ctx.clock.now() - ms) },
      })
    await startedAgo(28 * day)
    expect((await read(bearer(token))).headers.get('x-session-token')).not.toBeNull()
    const { expiresAt } = await api.ctx.prisma.session.findUniqueOrThrow({ where: { id: sessionId } })
    expect(Math.abs(expiresAt.getTime() - api.ctx.clock.now() - 2 * day)).toBeLessThan(60_000)
    await startedAgo(30 * day + 1000)
    expect((await read(bearer(token))).status).toBe(401)
  })
})

describe('with https', () => {
  const secure = useApi({ PUBLIC_URL: 'https://belfry.test' })

  it('the cookie has a prefix that keeps other subdomains from setting it, and browsers stay with https', async () => {
    const { email, token } = secure.caller
    const login = await secure.send('POST', '/api/v1/auth/login', { email, password: 'correct horse battery' })
    for (const cookie of login.headers.getSetCookie()) {
      expect(cookie).toMatch(/^__Host-belfry_(session|device)=[^;]+; Path=\/; HttpOnly; SameSite=Lax; .*Secure$/)
    }
    const readBy = (cookie: string) => secure.send('GET', me, undefined, { Cookie: cookie })
    expect(await readBy(`__Host-belfry_session=${token}`)).toMatchObject({ status: 200 })
    expect(await readBy(`belfry_session=${token}`)).toMatchObject({ status: 401 })
    expect(login.headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect((await read({})).headers.get('strict-transport-security')).toBeNull()
  })
})

describe('refuses', () => {
  it('a change by cookie unless it comes from our own page; reads are allowed', async () => {
    const { token } = await aSession()
    const cookie = { Cookie: `other=1; belfry_session=${token}` }
    const change = (headers: Record<string, string>, body: unknown = { name: 'x' }) =>
      api.send('PATCH', me, body, { ...cookie, ...headers })
    const foreign: Array<Record<string, string>> = [
      {},
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://belfry.test.evil.example' },
      { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' },
      { Referer: 'http://belfry.test/' },
    ]
    for (const headers of foreign) expect((await change(headers)).status).toBe(403)
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect((await change({ 'Sec-Fetch-Site': site })).status).not.toBe(200)
    }
    expect((await change({ Origin: 'http://belfry.test' })).status).toBe(200)
    expect((await read(cookie)).status).toBe(200)
    const form = { Origin: 'http://belfry.test', 'Content-Type': 'text/plain' }
    expect((await change(form, '{"name":"x"}')).status).toBe(415)
  })

  it('every token of another issuer, kind or time', async () => {
    const { userId, sessionId, token } = await aSession()
    const ourKey = api.ctx.config.jwtKeys[0]
    const now = Math.floor(api.ctx.clock.now() / 1000)
    const ours = { sub: userId, sid: sessionId, iat: now, exp: now + 60, iss: 'belfry', aud: 'belfry:session' }
    const sign = (claims: object, options: SignOptions = {}, key: Secret = ourKey) =>
      jwt.sign(claims, key, {
        algorithm: 'HS256',
        ...options,
        header: { alg: 'HS256', typ: 'session+jwt', ...options.header },
      })
    expect((await read(bearer(sign(ours)))).status).toBe(200)
    const without = (name: string) => Object.fromEntries(Object.entries(ours).filter(([key]) => key !== name))
    const header = (more: object) => ({ header: { alg: 'HS256', ...more } as SignOptions['header'] }) as SignOptions
    const [head = '', payload = '', signature = ''] = token.split('.')
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const bad: Record<string, string> = {
      'another key': sign(ours, {}, 'another secret of thirty-two characters'),
      'no algorithm': sign(ours, { algorithm: 'none', header: { alg: 'none' } }, null as never),
      'no algorithm, our signature': `${encode({ alg: 'none', typ: 'session+jwt' })}.${payload}.${signature}`,
      'no signature': `${head}.${payload}.`,
      HS384: sign(ours, { algorithm: 'HS384', header: { alg: 'HS384' } }),
      HS512: sign(ours, { algorithm: 'HS512', header: { alg: 'HS512' } }),
      'another type': sign(ours, header({ typ: 'JWT' })),
      'type of a reset': sign(ours, header({ typ: 'reset+jwt' })),
      'a key of its own': sign(ours, header({ jwk: { kty: 'oct', k: 'AAAA' } })),
      'a key elsewhere': sign(ours, header({ jku: 'https://evil.example/keys' })),
      'a certificate elsewhere': sign(ours, header({ x5u: 'https://evil.example/cert' })),
      'a key by path': sign(ours, header({ kid: '../../dev/null' })),
      'an extension': sign(ours, header({ crit: ['exp'] })),
      'another audience': sign({ ...ours, aud: 'belfry:reset' }),
      'several audiences': sign({ ...ours, aud: ['belfry:session', 'belfry:reset'] }),
      'no audience': sign(without('aud')),
      'another issuer': sign({ ...ours, iss: 'another' }),
      'no issuer': sign(without('iss')),
      expired: sign({ ...ours, iat: now - 120, exp: now - 1 }),
      'no end': sign(without('exp')),
      'older than seven days': sign({ ...ours, iat: now - sessionMs / 1000 - 60 }),
      'from the future': sign({ ...ours, iat: now + 3600, exp: now + 7200 }),
      'not valid yet': sign({ ...ours, nbf: now + 3600 }),
      'no session': sign(without('sid')),
      'a session that is none': sign({ ...ours, sid: 'x' }),
      'an unknown session': sign({ ...ours, sid: crypto.randomUUID() }),
      'the session of another user': sign({ ...ours, sub: crypto.randomUUID() }),
      'an object for a user': sign({ ...ours, sub: undefined, user: { not: '' } }),
      'more than we write': sign({ ...ours, role: 'owner' }),
      truncated: token.slice(0, -2),
      'a part only': head,
      'changed payload': `${head}.${encode({ ...ours, exp: now + 10 ** 6 })}.${signature}`,
      nothing: 'x',
    }
    for (const [kind, text] of Object.entries(bad)) {
      expect([kind, (await read(bearer(text))).status]).toEqual([kind, 401])
    }
    await api.ctx.prisma.session.delete({ where: { id: sessionId } })
    expect((await read(bearer(sign(ours)))).status).toBe(401)
  })
})
