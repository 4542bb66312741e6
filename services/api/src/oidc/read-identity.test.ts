import type { IDToken } from 'openid-client'
import { describe, expect, it } from 'vitest'
import { readIdentity } from './read-identity.ts'
import type { OidcSettings } from './settings.ts'

const settings: OidcSettings = {
  issuer: new URL('https://id.example.com'),
  clientId: 'belfry',
  clientSecret: null,
  scopes: 'openid email',
  name: 'Acme',
  domains: [],
  groupRoles: [],
  groupsClaim: 'groups',
  trustsEmail: false,
}
const token = { iss: 'https://id.example.com', sub: '7', aud: 'belfry', iat: 1, exp: 2 } satisfies IDToken
const verified = { ...token, email: 'Ada@Example.com', email_verified: true }

const read = (changes: Partial<OidcSettings>, claims: IDToken) =>
  readIdentity({ ...settings, ...changes }, claims, null)

describe('readIdentity', () => {
  it('refuses addresses outside of the allowed domains', () => {
    expect(read({ domains: ['example.com'] }, verified).email).toBe('ada@example.com')
    for (const email of ['ada@sub.example.com', 'ada@example.com.evil.test', 'ada@evil.test']) {
      expect(() => read({ domains: ['example.com'] }, { ...verified, email })).toThrow('OIDC_DOMAINS')
    }
  })

  it('trusts an issuer that does not say whether addresses are verified, where the operator does', () => {
    const { email_verified: _, ...silent } = verified
    expect(() => read({}, silent)).toThrow('verified')
    expect(read({ trustsEmail: true }, silent).email).toBe('ada@example.com')
    expect(() => read({ trustsEmail: true }, { ...verified, email_verified: false })).toThrow('verified')
  })

  it.each([
    undefined,
    7,
    '',
    'ada',
    'a b@example.com',
    '\u212Aen@example.com',
    'ada@ex\u0430mple.com',
    `${'a'.repeat(250)}@example.com`,
  ])('refuses the address %j', email => {
    expect(() => read({}, { ...verified, email } as unknown as IDToken)).toThrow('no email address')
  })

  it('names a user without a name', () => {
    expect(read({}, { ...verified, preferred_username: 'ada' }).name).toBe('ada')
    expect(read({}, { ...verified, name: ' \u0007 ' }).name).toBe('ada@example.com')
  })

  it('reads groups of the configured claim', () => {
    const groupRoles = [{ group: 'ops', organization: 'acme', role: 'admin' as const }]
    const of = (claim: unknown) =>
      read({ groupRoles, groupsClaim: 'roles' }, { ...verified, roles: claim } as IDToken).groups
    expect(of(['ops', 7, 'dev'])).toEqual(['ops', 'dev'])
    expect(of('ops')).toEqual(['ops'])
    expect(of(undefined)).toEqual([])
  })
})
