import { hash } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { aPerson } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { useApi } from './setup.ts'

const api = useApi()
const password = 'another good password'

let addresses = 0
const fromSomewhere = () => ({ 'X-Forwarded-For': `192.0.${Math.floor(++addresses / 250)}.${addresses % 250}` })
const forgot = (email: string, headers: Record<string, string> = fromSomewhere()) =>
  api.send('POST', '/api/v1/auth/password/forgot', { email }, headers)
const reset = (token: string, to = password) =>
  api.send('POST', '/api/v1/auth/password/reset', { token, password: to }, fromSomewhere())
const login = (email: string, given: string) =>
  api.send('POST', '/api/v1/auth/login', { email, password: given }, fromSomewhere())

async function aUser() {
  const person = await aPerson(api)
  const passwordHash = await hash('the old password', { memoryCost: 8_192, timeCost: 1, parallelism: 1 })
  await api.ctx.prisma.user.update({ where: { id: person.userId }, data: { passwordHash } })
  return person
}

describe('works', () => {
  it('a link sets a new password, and ends every session', async () => {
    const { email, session } = await aUser()
    expect((await forgot(email.toUpperCase())).status).toBe(202)
    const token = await tokenFor(api, email)
    expect((await mailsTo(api, email))[0]?.text).toContain(`http://belfry.test/reset-password#${token}\n`)
    expect((await reset(token)).status).toBe(204)
    expect((await api.send('GET', '/api/v1/auth/me', undefined, session)).status).toBe(401)
    expect((await login(email, 'the old password')).status).toBe(401)
    expect((await login(email, password)).status).toBe(200)
  })
})

describe('refuses', () => {
  it('a second use, also of ten at the same time, and the links that were sent before', async () => {
    const { email } = await aUser()
    await forgot(email)
    const older = await tokenFor(api, email)
    await forgot(email)
    const token = await tokenFor(api, email)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => reset(token, `good password ${i}`)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    for (const used of [token, older]) {
      const { status, body } = await reset(used)
      expect([status, body.errors[0]]).toMatchObject([400, { path: 'token', code: 'invalid_token' }])
    }
  })

  it('a link older than an hour, and an invalid token', async () => {
    const { email, userId } = await aUser()
    await forgot(email)
    const expiresAt = new Date(Date.now() - 1_000)
    await api.ctx.prisma.passwordReset.updateMany({ where: { userId }, data: { expiresAt } })
    for (const token of [await tokenFor(api, email), '', 'x', 'x'.repeat(43)]) {
      expect((await reset(token)).status).toBe(400)
    }
    expect((await login(email, 'the old password')).status).toBe(200)
  })

  it('a short password, and keeps the link', async () => {
    const { email } = await aUser()
    await forgot(email)
    const token = await tokenFor(api, email)
    expect((await reset(token, 'short')).body.errors[0].path).toBe('password')
    expect((await reset(token)).status).toBe(204)
  })
})

describe('permits', () => {
  it('no caller to learn whether an address has an account', async () => {
    const { email } = await aUser()
    const known = await timed(() => forgot(email))
    const unknown = await timed(() => forgot(`${crypto.randomUUID()}@example.com`))
    const nonsense = await timed(() => forgot('invalid'))
    expect([known.text, unknown.text, nonsense.text]).toEqual(['', '', ''])
    expect([known.status, unknown.status, nonsense.status]).toEqual([202, 202, 202])
    for (const { ms } of [known, unknown, nonsense]) expect(ms).toBeGreaterThanOrEqual(390)
  })

  it('no mailbox to be flooded: a few mails, and the same response', async () => {
    const { email } = await aUser()
    const answers = await Promise.all(Array.from({ length: 8 }, () => forgot(email)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202))
    expect(await mailsTo(api, email)).toHaveLength(5)
  })

  it('no address to request mails without limit', async () => {
    const own = { 'X-Forwarded-For': '198.51.100.7' }
    const answers = await Promise.all(Array.from({ length: 21 }, (_, i) => forgot(`user${i}@example.com`, own)))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
  })
})

async function timed<T>(call: () => Promise<T>): Promise<T & { ms: number }> {
  const began = performance.now()
  const answer = await call()
  return { ...answer, ms: performance.now() - began }
}
