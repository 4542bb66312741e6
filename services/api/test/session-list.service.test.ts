import { describe, expect, it } from 'vitest'
import { password } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()
const day = 86_400_000
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const from = (address: string, agent: string) => ({ 'X-Forwarded-For': address, 'User-Agent': agent })

/** Registers a user: the registration is the user's first sign-in. */
async function register(): Promise<{ email: string; token: string }> {
  const email = `${crypto.randomUUID()}@example.com`
  const { body } = await api.send('POST', '/api/v1/auth/register', { email, password, name: 'A user' })
  return { email, token: body.token }
}

const signIn = (email: string, headers: Record<string, string>, given = password) =>
  api.send('POST', '/api/v1/auth/login', { email, password: given }, headers)
const list = async (token: string, query = ''): Promise<Json> =>
  (await api.send('GET', `/api/v1/auth/sessions${query}`, undefined, bearer(token))).body
const end = (token: string, id: string) => api.send('DELETE', `/api/v1/auth/sessions/${id}`, undefined, bearer(token))
const me = async (token: string) => (await api.send('GET', '/api/v1/auth/me', undefined, bearer(token))).status

describe('the sessions of a user', () => {
  it('have their device, address, times and end', async () => {
    const { email, token } = await register()
    const other = (await signIn(email, from('192.0.2.1', chrome))).body.token
    const { data } = await list(other)
    expect(data).toHaveLength(2)
    expect(data[0]).toMatchObject({ device: 'Chrome on Linux', address: '192.0.2.1', is_current: true })
    expect(data[1]).toMatchObject({ device: 'node', is_current: false })
    expect((await list(token)).data.map((one: Json) => one.is_current)).toEqual([false, true])
    expect(Math.round((Date.parse(data[0].expires_at) - Date.parse(data[0].created_at)) / day)).toBe(7)
    expect(JSON.stringify(data)).not.toContain(token)
  })

  it('record their use at most once a minute', async () => {
    const { email } = await register()
    const { token } = (await signIn(email, from('192.0.2.1', chrome))).body
    const headers = { ...bearer(token), 'X-Forwarded-For': '192.0.2.9' }
    const address = async () => (await list(token)).data[0].address
    await api.send('GET', '/api/v1/auth/me', undefined, headers)
    expect(await address()).toBe('192.0.2.1')
    await api.db.query(`UPDATE sessions SET last_used_at = now() - interval '61 seconds'`)
    await api.send('GET', '/api/v1/auth/me', undefined, headers)
    await expect.poll(async () => (await list(token)).data[0].address).toBe('192.0.2.9')
  })

  it('end at once: one, or all others', async () => {
    const { email, token } = await register()
    const tokens = [token]
    for (let i = 0; i < 3; i++) tokens.push((await signIn(email, from('192.0.2.1', chrome))).body.token)
    const [first = '', second = '', third = '', own = ''] = tokens
    const { data } = await list(own)
    expect((await end(own, data[1].id)).status).toBe(204)
    expect((await end(own, data[1].id)).status).toBe(404)
    expect(await Promise.all([first, second, third, own].map(me))).toEqual([200, 200, 401, 200])
    expect((await api.send('DELETE', '/api/v1/auth/sessions', undefined, bearer(own))).status).toBe(204)
    expect(await Promise.all([first, second, third, own].map(me))).toEqual([401, 401, 401, 200])
    const log = (await api.send('GET', '/api/v1/auth/log', undefined, bearer(own))).body.data
    expect(log.slice(0, 2).map(({ action }: Json) => action)).toEqual(['session_ended', 'session_ended'])
    expect(log[2]).toMatchObject({ action: 'signed_in', device: 'Chrome on Linux' })
  })

  it('are not those of others', async () => {
    const [own, stranger] = [await register(), await register()]
    const [session] = (await list(stranger.token)).data
    expect((await end(own.token, session.id)).status).toBe(404)
    expect(await me(stranger.token)).toBe(200)
    expect((await list(own.token)).data).toHaveLength(1)
  })

  it('are listed page by page, and not after their end', async () => {
    const { email, token } = await register()
    for (let i = 0; i < 3; i++) await signIn(email, from('192.0.2.1', chrome))
    const first = await list(token, '?limit=3')
    const second = await list(token, `?limit=3&cursor=${first.next_cursor}`)
    expect([first.data.length, second.data.length, second.next_cursor]).toEqual([3, 1, null])
    const { userId } = await api.ctx.prisma.session.findFirstOrThrow({ where: { user: { email } } })
    const current = {
      id: { not: (await api.ctx.prisma.session.findFirstOrThrow({ where: { userId }, orderBy: { id: 'asc' } })).id },
    }
    const over = { createdAt: new Date(Date.now() - 30 * day - 1000), expiresAt: new Date(Date.now() + day) }
    await api.ctx.prisma.session.updateMany({ where: { userId, ...current }, data: over })
    expect((await list(token)).data).toHaveLength(1)
  })
})

describe('a mail', () => {
  const subjects = async (email: string) => (await mailsTo(api, email)).map(({ subject }) => subject)
  const newDevice = 'New sign-in to Belfry'

  it('reports a sign-in from a new device once, and not the first of an account', async () => {
    const { email } = await register()
    expect(await subjects(email)).toEqual([])
    const first = await signIn(email, from('192.0.2.1', chrome))
    const [mail] = await mailsTo(api, email)
    expect(mail?.subject).toBe(newDevice)
    expect(mail?.text).toContain('Device: Chrome on Linux. IP address: 192.0.2.1.')
    expect(mail?.text).toContain('http://belfry.test/account/profile')
    await signIn(email, from('192.0.2.1', chrome))
    expect(await subjects(email)).toHaveLength(1)
    await signIn(email, from('192.0.2.1', firefox))
    await signIn(email, from('192.0.2.2', chrome))
    expect(await subjects(email)).toHaveLength(3)
    const [, cookie = ''] = /(belfry_device=[^;]+)/.exec(first.headers.get('set-cookie') ?? '') ?? []
    await signIn(email, { ...from('192.0.2.3', chrome), Cookie: cookie })
    expect(await subjects(email)).toHaveLength(3)
  })

  it('is not sent for a failed sign-in', async () => {
    const { email } = await register()
    await signIn(email, from('192.0.2.1', chrome), 'a wrong password')
    expect(await subjects(email)).toEqual([])
  })

  it('reports a changed and a reset password', async () => {
    const { email, token } = await register()
    const change = { current_password: password, password: 'another good password' }
    const wrong = { ...change, current_password: 'a wrong password' }
    expect((await api.send('PATCH', '/api/v1/auth/me', wrong, bearer(token))).status).toBe(400)
    expect(await subjects(email)).toEqual([])
    await api.send('PATCH', '/api/v1/auth/me', change, { ...bearer(token), 'X-Forwarded-For': '192.0.2.4' })
    const [mail] = await mailsTo(api, email)
    expect(mail?.subject).toBe('Your Belfry password was changed')
    expect(mail?.text).toContain('IP address: 192.0.2.4.')
    await api.send('POST', '/api/v1/auth/password/forgot', { email })
    const reset = { token: await tokenFor(api, email), password: 'the third password' }
    expect((await api.send('POST', '/api/v1/auth/password/reset', reset)).status).toBe(204)
    expect((await subjects(email)).at(-1)).toBe('Your Belfry password was changed')
    expect(mail?.text).not.toContain('another good password')
  })
})
