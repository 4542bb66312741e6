import { describe, expect, it } from 'vitest'
import { requireOpenRegistration, requireRegistrationByInvitation } from './registration.ts'

type Door = { registration: 'open' | 'invite' | 'closed'; domains?: string[]; hasAccounts: boolean }

const refusalOf = ({ registration, domains = [], hasAccounts }: Door, email = 'ada@example.com') => {
  try {
    requireOpenRegistration({ registration, registrationDomains: domains }, email, hasAccounts)
    return null
  } catch (error) {
    return String(error)
  }
}

describe('registration', () => {
  it.each([
    [{ registration: 'open', hasAccounts: true }, null],
    [{ registration: 'open', hasAccounts: false }, null],
    [{ registration: 'invite', hasAccounts: false }, null],
    [{ registration: 'invite', hasAccounts: true }, 'by invitation only'],
    [{ registration: 'closed', hasAccounts: false }, 'no new accounts'],
    [{ registration: 'closed', hasAccounts: true }, 'no new accounts'],
  ] as const)('with %j', (door, refusal) => {
    if (refusal === null) expect(refusalOf(door)).toBeNull()
    else expect(refusalOf(door)).toContain(refusal)
  })

  it('takes whole domains only', () => {
    const door: Door = { registration: 'open', domains: ['example.com', 'example.org'], hasAccounts: true }
    expect(refusalOf(door, 'ada@example.org')).toBeNull()
    for (const email of [
      'ada@evilexample.com',
      'ada@a.example.com',
      'ada@example.com@evil.example',
      'ada@example.co',
    ]) {
      expect(refusalOf(door, email), email).toContain('example.com or example.org')
    }
  })

  it('by invitation is possible unless registration is closed', () => {
    for (const registration of ['open', 'invite'] as const) requireRegistrationByInvitation({ registration })
    expect(() => requireRegistrationByInvitation({ registration: 'closed' })).toThrow('no new accounts')
  })
})
