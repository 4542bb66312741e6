import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { aPerson, password } from './organization.ts'
import { tokenFor } from './sent-mails.ts'
import { useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // uses up the limits of the installation
const from = (address: string, cookie?: string) => ({
  'X-Forwarded-For': address,
  ...(cookie ? { Cookie: cookie } : {}),
})
const login = (email: string, given: string, headers: Record<string, string>) =>
  api.send('POST', '/api/v1/auth/login', { email, password: given }, headers)
const forgot = (headers: Record<string, string>) =>
  api.send('POST', '/api/v1/auth/password/forgot', { email: `${crypto.randomUUID()}@example.com` }, headers)

async function aUser(): Promise<string> {
  return (await aPerson(api)).email
}

/** Uses up a limit, as many strangers can. */
async function useUp(name: string): Promise<void> {
  const digest = createHash('sha256').update(name).digest('base64url')
  const text = `INSERT INTO throttles (name, free_at) VALUES ($1, clock_timestamp() + interval '1 day')
                ON CONFLICT (name) DO UPDATE SET free_at = excluded.free_at`
  await api.db.query(text, [digest])
}

beforeEach(async () => {
  await api.db.query('DELETE FROM throttles')
})

describe('while strangers use up every limit that they can', () => {
  it('a right password works from a network that has not failed', async () => {
    const email = await aUser()
    await useUp(`login to ${email}`)
    await useUp('login')
    for (let i = 0; i < 3; i++) expect(await login(email, password, from('192.0.2.1'))).toMatchObject({ status: 200 })
    expect(await login(email, 'a wrong password', from('192.0.2.2'))).toMatchObject({ status: 401 })
    expect(await login(email, password, from('192.0.2.2'))).toMatchObject({ status: 429 })
    expect(await login(email, password, from('192.0.2.1'))).toMatchObject({ status: 200 })
  })

  it('a device with which the user has signed in works from any network, and has a limit of its own', async () => {
    const [email, other] = [await aUser(), await aUser()]
    const cookies = (await login(email, password, from('192.0.2.1'))).headers.getSetCookie()
    const device = cookies.find(cookie => cookie.startsWith('belfry_device='))?.split(';')[0] ?? ''
    for (const limit of ['login', `login to ${email}`, `login to ${other}`, 'login from 198.51.100.1'])
      await useUp(limit)
    const busy = from('198.51.100.1')
    expect(await login(email, password, busy)).toMatchObject({ status: 429 })
    expect(await login(email, password, { ...busy, Cookie: device })).toMatchObject({ status: 200 })
    expect(await login(other, password, { ...busy, Cookie: device })).toMatchObject({ status: 429 })
    expect(await login(email, password, { ...busy, Cookie: `${device}x` })).toMatchObject({ status: 429 })
    const guesses = Array.from({ length: 12 }, () => login(email, 'a wrong password', { ...busy, Cookie: device }))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  })

  it('a stranger can ask for a reset and register, once an hour', async () => {
    for (const limit of ['reset', 'registration']) await useUp(limit)
    expect(await forgot(from('192.0.2.1'))).toMatchObject({ status: 202 })
    expect(await forgot(from('192.0.2.1'))).toMatchObject({ status: 429 })
    expect(await forgot(from('2001:db8:1:1::1'))).toMatchObject({ status: 202 })
    expect(await forgot(from('2001:db8:1:2::1'))).toMatchObject({ status: 429 }) // the same /48
    const account = { email: `${crypto.randomUUID()}@example.com`, password, name: 'Ada' }
    const register = (address: string) => api.send('POST', '/api/v1/auth/register', account, from(address))
    expect(await register('192.0.2.1')).toMatchObject({ status: 201 })
    expect(await register('192.0.2.1')).toMatchObject({ status: 429 })
  })
})

describe('while 60 addresses ask for resets as fast as the limits allow', () => {
  it('a stranger signs in, asks for a reset, and uses its link', async () => {
    const email = await aUser()
    const attackers = Array.from({ length: 60 }, (_, i) => from(`198.51.100.${i + 1}`))
    const refused = new Set<unknown>()
    let isOver = false
    const hammer = async (attacker: Record<string, string>) => {
      while (!isOver) if ((await forgot(attacker)).status === 429) refused.add(attacker)
    }
    const hammering = attackers.map(hammer)
    await expect.poll(() => refused.size, { timeout: 50_000 }).toBe(60) // the limit of all together, too
    const stranger = from('203.0.113.9')
    expect(await login(email, password, stranger)).toMatchObject({ status: 200 })
    expect(await api.send('POST', '/api/v1/auth/password/forgot', { email }, stranger)).toMatchObject({ status: 202 })
    const reset = { token: await tokenFor(api, email), password: 'another good password' }
    expect(await api.send('POST', '/api/v1/auth/password/reset', reset, from('203.0.113.10'))).toMatchObject({
      status: 204,
    })
    expect(await login(email, reset.password, from('203.0.113.11'))).toMatchObject({ status: 200 })
    isOver = true
    await Promise.all(hammering)
  })
})

it('a reset of the password forgets the failed logins to the account', async () => {
  const email = await aUser()
  await useUp(`login to ${email}`)
  const attacker = from('192.0.2.7')
  await login(email, 'a wrong password', attacker)
  expect(await login(email, password, attacker)).toMatchObject({ status: 429 })
  await api.send('POST', '/api/v1/auth/password/forgot', { email }, from('192.0.2.8'))
  const reset = { token: await tokenFor(api, email), password: 'another good password' }
  expect(await api.send('POST', '/api/v1/auth/password/reset', reset, from('192.0.2.8'))).toMatchObject({ status: 204 })
  expect(await login(email, reset.password, attacker)).toMatchObject({ status: 200 })
})

it.each(['2001:db8:1::/48', '2001:db8::/32'])('IPv6 addresses are also counted together by their %s', async network => {
  const email = await aUser()
  expect(await login(email, 'a wrong password', from('2001:db8:1:5::1'))).toMatchObject({ status: 401 })
  await useUp(`login from ${network}`)
  expect(await login(email, password, from('2001:db8:1:6::1'))).toMatchObject({ status: 429 })
  expect(await login(email, password, from('2001:db9:1:6::1'))).toMatchObject({ status: 200 })
})
