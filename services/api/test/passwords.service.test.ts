import { createHash } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { hashPassword } from '../src/account/password.ts'
import { aPerson, password } from './organization.ts'
import { type Answer, burstUntilRefused, useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // uses up limits of addresses
const me = '/api/v1/auth/me'
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

let addresses = 0
const from = (address: string) => ({ 'X-Forwarded-For': address })
const fromSomewhere = () => from(`192.0.${Math.floor(++addresses / 250)}.${addresses % 250}`)

const login = (email: string, given = password, headers: Record<string, string> = fromSomewhere()) =>
  api.send('POST', '/api/v1/auth/login', { email, password: given }, headers)

async function aUser(passwordHash?: string): Promise<string> {
  const { email } = await aPerson(api)
  if (passwordHash) await api.ctx.prisma.user.update({ where: { email }, data: { passwordHash } })
  return email
}

/** Uses up a limit. Returns how many attempts had counted before: 0 or more than 0, as 1. */
async function useUp(limit: string): Promise<number> {
  const text = `INSERT INTO throttles (name, free_at) VALUES ($1, clock_timestamp() + interval '1 hour')
                ON CONFLICT (name) DO UPDATE SET free_at = excluded.free_at RETURNING (xmax <> 0)::int AS known`
  const { rows } = await api.db.query(text, [createHash('sha256').update(limit).digest('base64url')])
  return rows[0].known
}

describe('works', () => {
  it('a changed password ends all other sessions at once, and keeps this one', async () => {
    const email = await aUser()
    const [own, other] = [(await login(email)).body.token, (await login(email)).body.token]
    const body = { password: 'a new password', current_password: password }
    expect((await api.send('PATCH', me, body, bearer(own))).status).toBe(200)
    expect((await api.send('GET', me, undefined, bearer(own))).status).toBe(200)
    expect((await api.send('GET', me, undefined, bearer(other))).status).toBe(401)
    expect((await login(email)).status).toBe(401)
    expect((await login(email, 'a new password')).status).toBe(200)
  })

  it('no session of the old password outlives its change, also of concurrent logins', async () => {
    const email = await aUser()
    const { token } = (await login(email)).body
    const body = { password: 'a new password', current_password: password }
    const logins = Array.from({ length: 8 }, () => login(email))
    const changed = api.send('PATCH', me, body, bearer(token))
    const tokens = (await Promise.all(logins)).filter(({ status }) => status === 200).map(one => one.body.token)
    expect((await changed).status).toBe(200)
    for (const old of tokens) expect((await api.send('GET', me, undefined, bearer(old))).status).toBe(401)
  })

  it('every character of a password counts, also beyond 72 bytes', async () => {
    const long = `${'ä'.repeat(40)} and its end`
    const email = await aUser(await hashPassword(long, ''))
    expect((await login(email, `${long.slice(0, -1)}D`)).status).toBe(401)
    expect((await login(email, long.slice(0, 36))).status).toBe(401)
    expect((await login(email, long)).status).toBe(200)
  })

  it('a hash of a lower cost is replaced at the next login', async () => {
    const cheap = await hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 })
    const email = await aUser(cheap)
    expect((await login(email)).status).toBe(200)
    const { passwordHash } = await api.ctx.prisma.user.findUniqueOrThrow({ where: { email } })
    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect((await login(email)).status).toBe(200)
    expect((await api.ctx.prisma.user.findUniqueOrThrow({ where: { email } })).passwordHash).toBe(passwordHash)
  })

  it('every character of a long password counts, also non-ASCII ones', async () => {
    const long = `${'ä'.repeat(100)}1`
    const email = await aUser(await hashPassword(long, ''))
    expect((await login(email, long)).status).toBe(200)
    expect((await login(email, `${long.slice(0, -1)}2`)).status).toBe(401)
  })
})

describe('refuses', () => {
  it.each([
    [{ password: 'a new password' }, 'current_password', 'required'],
    [{ password: 'a new password', current_password: 'wrong' }, 'current_password', 'wrong_password'],
    [{ password: 'short', current_password: password }, 'password', 'too_short'],
    [{ email: 'new@example.com' }, 'email', 'unknown_field'],
  ])('%j as a change', async (body, path, code) => {
    const { token } = (await login(await aUser())).body
    const answer = await api.send('PATCH', me, body, bearer(token))
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path, code }] } })
  })

  const failures = (answers: Answer[]) => answers.filter(({ status }) => status === 401).length

  it('more than ten wrong passwords for one account, from an address and also concurrent ones', async () => {
    const email = await aUser()
    const attacker = from('198.51.100.20')
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(email, 'a wrong password', attacker)))
    expect(failures(answers)).toBe(10 + 1) // the spare attempt of the network
    const refused = await login(email, password, attacker)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(30)
    expect((await login(await aUser())).status).toBe(200)
  })

  it('the same for an account that does not exist', async () => {
    const [stranger, unknown] = [from('198.51.100.21'), `${crypto.randomUUID()}@example.com`]
    const answers = await Promise.all(Array.from({ length: 12 }, () => login(unknown, password, stranger)))
    expect(failures(answers)).toBe(10 + 1)
  })

  it('attempts from an address that has made too many, for all accounts', async () => {
    const [busy, other] = ['198.51.100.7', '198.51.100.8']
    const name = createHash('sha256').update(`login from ${busy}`).digest('base64url')
    const untilFree = `extract(epoch FROM free_at - clock_timestamp())::float8`
    for (let i = 0; i < 4; i++) await login(`${crypto.randomUUID()}@example.com`, password, from(busy))
    const { rows } = await api.db.query(`SELECT ${untilFree} AS seconds FROM throttles WHERE name = $1`, [name])
    expect(rows[0].seconds).toBeGreaterThan(0)
    expect(rows[0].seconds).toBeLessThanOrEqual(4 * 3)
    const used = `UPDATE throttles SET free_at = clock_timestamp() + interval '1 hour' WHERE name = $1`
    await api.db.query(used, [name])
    expect((await login(await aUser(), password, from(busy))).status).toBe(429)
    expect((await login(await aUser(), password, from(other))).status).toBe(200)
  })

  it('more than ten right passwords of one account, from all networks together, and no other account', async () => {
    const email = await aUser()
    for (let i = 0; i < 5; i++) expect((await login(email, password, from('198.51.100.9'))).status).toBe(200)
    await burstUntilRefused(6, () => login(email))
    const { token } = await aPerson(api)
    expect((await login(await aUser(), password, from('198.51.100.9'))).status).toBe(200)
    expect((await api.send('GET', me, undefined, bearer(token))).status).toBe(200)
  })

  it('right passwords of sessions and known devices too, each of which costs a hash', async () => {
    const { email, token } = await aPerson(api)
    await useUp(`right password of ${email}`)
    const change = { password: 'a new password', current_password: password }
    expect((await api.send('PATCH', me, change, bearer(token))).status).toBe(429)
    expect((await login(email)).status).toBe(429)
  })

  it('no right password because strangers have tried wrong ones', async () => {
    const email = await aUser()
    await Promise.all(Array.from({ length: 30 }, () => login(email, 'a wrong password')))
    expect((await login(email)).status).toBe(200)
  })

  it('more right passwords of a network than its users need', async () => {
    const name = 'right password from 198.51.100.10'
    await login(await aUser(), password, from('198.51.100.10'))
    expect(await useUp(name)).toBe(1)
    expect((await login(await aUser(), password, from('198.51.100.10'))).status).toBe(429)
    expect((await login(await aUser(), password, from('198.51.100.11'))).status).toBe(200)
  })
})

describe('without a trusted proxy', () => {
  const direct = useApi({ TRUST_PROXY: '' }, { isAlone: true })

  it('a forged X-Forwarded-For has no effect', async () => {
    const attempt = () =>
      direct.send(
        'POST',
        '/api/v1/auth/login',
        { email: `${crypto.randomUUID()}@example.com`, password },
        fromSomewhere(),
      )
    expect((await attempt()).status).toBe(401)
    const name = createHash('sha256').update('login from 127.0.0.1').digest('base64url')
    const used = `UPDATE throttles SET free_at = clock_timestamp() + interval '1 hour' WHERE name = $1`
    expect((await direct.db.query(used, [name])).rowCount).toBe(1)
    expect((await attempt()).status).toBe(429)
  })
})
