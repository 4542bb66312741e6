import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { sessionMs, signSessionToken } from '../src/auth/session-token.ts'
import { aPerson } from './organization.ts'
import { useApi } from './setup.ts'

const [current, previous, removed] = [1, 2, 3].map(() => randomBytes(32).toString('hex')) as [string, string, string]
const api = useApi({ JWT_SECRETS: `${current},${previous}`, JWT_SECRET: removed })
const day = 24 * 3_600_000

async function sessionSignedWith(secret: string, issuedAgoMs = 0) {
  const { userId } = await aPerson(api, sessionMs)
  const { id } = await api.ctx.prisma.session.findFirstOrThrow({ where: { userId } })
  return signSessionToken(createSecretKey(secret, 'utf8'), userId, id, api.ctx.clock.now() - issuedAgoMs)
}

const read = (token: string) => api.send('GET', '/api/v1/auth/me', undefined, { Authorization: `Bearer ${token}` })

function isSignedWith(secret: string, token: string): boolean {
  const [head, payload, signature] = token.split('.')
  return createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url') === signature
}

it('verifies sessions of every secret in JWT_SECRETS, and of no other', async () => {
  const statusOf = async (secret: string) => (await read(await sessionSignedWith(secret))).status
  expect([await statusOf(current), await statusOf(previous), await statusOf(removed)]).toEqual([200, 200, 401])
})

it('signs new and renewed sessions with the first one', async () => {
  expect(isSignedWith(current, (await api.signUp()).token)).toBe(true)
  const old = await sessionSignedWith(previous, 2 * day)
  const renewed = (await read(old)).headers.get('X-Session-Token') ?? ''
  expect([isSignedWith(previous, old), isSignedWith(current, renewed)]).toEqual([true, true])
})
