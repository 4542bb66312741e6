import { expect, it } from 'vitest'
import { loginBody, registerBody } from './auth.ts'
import { parseInput } from './field-errors.ts'

it('a registration needs an email address, a good password and a name', () => {
  const body = { email: 'Ada@Example.com', password: 'correct horse', name: 'Ada' }
  expect(parseInput(registerBody, body)).toEqual({ ok: true, value: body })
  expect(parseInput(registerBody, { email: 'ada', password: 'short', nmae: 'x' })).toMatchObject({
    errors: [
      { path: 'email', code: 'invalid_email' },
      { path: 'password', code: 'too_short' },
      { path: 'name', code: 'required' },
      { path: 'nmae', code: 'unknown_field' },
    ],
  })
})

it('a login does not reveal which email addresses and passwords are possible', () => {
  expect(parseInput(loginBody, { email: 'ada', password: 'x' })).toMatchObject({ ok: true })
  expect(parseInput(loginBody, { email: { not: '' }, password: 1 })).toMatchObject({
    errors: [{ path: 'email' }, { path: 'password' }],
  })
})
