import { generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { claimsOf, useOidc } from './oidc-sign-in.ts'

const oidc = useOidc()
const { api, begin, finish, signIn } = oidc

describe('an attack', () => {
  const refused = (code: string) => ({ status: 303, location: `/sign-in?error=${code}`, session: '', ended: true })

  it('cannot reuse the state of a finished sign-in', async () => {
    const begun = await begin()
    const token = await oidc.issuer.sign(claimsOf(begun, { groups: ['staff'] }))
    oidc.issuer.userInfo = { sub: JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub }
    expect((await finish(begun, token)).session).not.toBe('')
    expect(await finish(begun, token, { cookie: 'belfry_oidc=' })).toEqual(refused('expired'))
  })

  it('cannot sign a victim in: the state belongs to the browser of the attacker', async () => {
    const [attacker, victim] = [await begin(), await begin()]
    const token = await oidc.issuer.sign(claimsOf(attacker))
    expect(await finish(attacker, token, { cookie: '' })).toEqual(refused('expired'))
    expect(await finish(attacker, token, { cookie: victim.cookie })).toEqual(refused('invalid'))
  })

  it('cannot use a cookie that Belfry did not make, or of another purpose', async () => {
    const begun = await begin()
    const token = await oidc.issuer.sign(claimsOf(begun))
    const { rows } = await api.db.query<{ hint: string }>(
      'SELECT logout_hint AS hint FROM sessions WHERE logout_hint IS NOT NULL LIMIT 1',
    )
    for (const value of ['x.y.z', `${begun.cookie.slice('belfry_oidc='.length)}x`, rows[0]?.hint]) {
      expect(await finish(begun, token, { cookie: `belfry_oidc=${value}` })).toEqual(refused('expired'))
    }
  })

  it('cannot mix up issuers', async () => {
    const begun = await begin()
    const token = await oidc.issuer.sign(claimsOf(begun))
    expect(await finish(begun, token, { iss: 'https://attacker.example' })).toEqual(refused('invalid'))
    const other = await begin()
    const ofOther = await oidc.issuer.sign(claimsOf(other, { iss: 'https://attacker.example' }))
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
    expect(await finish(begun, await oidc.issuer.sign(claimsOf(begun, changes)))).toEqual(refused('invalid'))
  })

  it('cannot use a token with the signature of another key, or of the client secret, or without one', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const secret = new TextEncoder().encode('a secret of the client, which is long')
    for (const by of [{ key: privateKey }, { key: secret, header: { alg: 'HS256' } }]) {
      const begun = await begin()
      expect(await finish(begun, await oidc.issuer.sign(claimsOf(begun), by))).toEqual(refused('invalid'))
    }
    const begun = await begin()
    const [, payload] = (await oidc.issuer.sign(claimsOf(begun))).split('.')
    const header = Buffer.from('{"alg":"none"}').toString('base64url')
    expect(await finish(begun, `${header}.${payload}.`)).toEqual(refused('invalid'))
  })

  it('cannot use the user info of another subject', async () => {
    const begun = await begin()
    oidc.issuer.userInfo = { sub: 'another subject', email: api.caller.email, email_verified: true }
    expect(await finish(begun, await oidc.issuer.sign({ ...claimsOf(begun), email: undefined }))).toEqual(
      refused('invalid'),
    )
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
    oidc.issuer.userInfo = { sub: claims.sub, email: 'attacker@example.com', email_verified: true }
    expect(await finish(begun, await oidc.issuer.sign(claims))).toEqual(refused('email_unverified'))
  })

  it.each(['https://attacker.example/', '//attacker.example', '/\\attacker.example'])(
    'cannot return to %s',
    async path => {
      expect((await signIn({}, path)).location).toBe('/')
    },
  )
})
