import { forgetExpired } from '@belfry/db/retention/forget-expired'
import { describe, expect, it } from 'vitest'
import { anOrganization, password, type TestOrganization } from './organization.ts'
import { tokenFor } from './sent-mails.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()
const from = (address: string) => ({ 'X-Forwarded-For': address })
const post = (path: string, body: unknown, headers = {}) => api.send('POST', `/api/v1/auth${path}`, body, headers)

async function anOwner() {
  const organization = await anOrganization(api)
  const { email, session, userId } = organization.owner
  return { organization, email, session, userId }
}

type Session = Awaited<ReturnType<typeof anOwner>>['session']
const ownLog = async (session: Session): Promise<Json[]> =>
  (await api.send('GET', '/api/v1/auth/log', undefined, session)).body.data
const membersLog = async (organization: TestOrganization): Promise<Json[]> => {
  const path = `/api/v1/organizations/${organization.id}/audit-log?limit=100`
  const { data } = (await api.send('GET', path, undefined, organization.owner.session)).body
  return data.filter(({ action }: Json) => /^member\.(sign|pass)/.test(action))
}

describe('the security log of an account', () => {
  it('has sign-ins, failures, resets and changes of the password with their address', async () => {
    const { organization, email, session } = await anOwner()
    await post('/login', { email, password: 'a wrong password' }, from('192.0.2.1'))
    await expect.poll(async () => (await ownLog(session)).length).toBe(1)
    const { token } = (await post('/login', { email, password }, from('192.0.2.2'))).body
    const other = { Authorization: `Bearer ${token}` }
    await post('/logout', undefined, { ...other, ...from('192.0.2.3') })
    await post('/password/forgot', { email }, from('192.0.2.4'))
    const reset = { token: await tokenFor(api, email), password: 'another good password' }
    await post('/password/reset', reset, from('192.0.2.5'))
    const again = (await post('/login', { email, password: reset.password }, from('192.0.2.6'))).body
    const last = { Authorization: `Bearer ${again.token}`, ...from('192.0.2.7') }
    const change = { current_password: reset.password, password: 'the third password' }
    await api.send('PATCH', '/api/v1/auth/me', change, last)
    const expected = [
      ['password_changed', '192.0.2.7'],
      ['signed_in', '192.0.2.6'],
      ['password_reset', '192.0.2.5'],
      ['password_reset_requested', '192.0.2.4'],
      ['signed_out', '192.0.2.3'],
      ['signed_in', '192.0.2.2'],
      ['sign_in_failed', '192.0.2.1'],
    ]
    expect((await ownLog(last)).map(({ action, address }) => [action, address])).toEqual(expected)
    organization.owner.session = last
    const audited = await membersLog(organization)
    expect(audited.slice(0, 7).map(({ action, address }) => [action, address])).toEqual(
      expected.map(([action, address]) => [`member.${action}`, address]),
    )
    expect(audited[0]).toMatchObject({ actor: { email, api_key_id: null }, object_id: audited[0]?.actor.user_id })
  })

  it('is shown page by page to its user, and to no other', async () => {
    const { email, session } = await anOwner()
    for (let i = 0; i < 3; i++) await post('/login', { email, password }, from('192.0.2.1'))
    const page = (query: string) => api.send('GET', `/api/v1/auth/log?limit=2${query}`, undefined, session)
    const first = (await page('')).body
    const second = (await page(`&cursor=${first.next_cursor}`)).body
    expect([first.data.length, second.data.length, second.next_cursor]).toEqual([2, 1, null])
    const stranger = { email: `${crypto.randomUUID()}@example.com`, password, name: 'A stranger' }
    const { token } = (await post('/register', stranger)).body
    const foreign = await ownLog({ Authorization: `Bearer ${token}` })
    expect(foreign.map(({ action }) => action)).toEqual(['signed_in'])
    expect(await membersLog(await anOrganization(api))).toEqual([])
  })

  it('has a limited number of failures, and none for an address without an account', async () => {
    const { email, session } = await anOwner()
    for (let i = 0; i < 30; i++) await post('/login', { email, password: 'a wrong password' }, from(`192.0.2.${i}`))
    await expect.poll(async () => (await ownLog(session)).length).toBe(10)
    const before = await api.count('account_log')
    for (let i = 0; i < 5; i++)
      await post(
        '/login',
        { email: `${crypto.randomUUID()}@x.example`, password: 'a wrong password' },
        from('192.0.2.9'),
      )
    await post('/login', { email, password: 'a wrong password' }, from('198.51.100.1'))
    await new Promise(resolve => setTimeout(resolve, 500))
    expect(await api.count('account_log')).toBe(before)
  })

  it('is deleted after 90 days', async () => {
    const { email, session, userId } = await anOwner()
    for (const days of [91, 89]) {
      const text = `INSERT INTO account_log (id, user_id, action, address)
                    VALUES (uuid_v7(now() - $2 * interval '1 day'), $1, 'signed_in', '192.0.2.1')`
      await api.db.query(text, [userId, days])
    }
    await post('/login', { email, password })
    await forgetExpired(api.db)
    expect(await ownLog(session)).toHaveLength(2)
  })
})
