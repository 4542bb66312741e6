import { expect, it } from 'vitest'
import { anOrganization } from './organization.ts'
import { anAssertion } from './permissions/requests.ts'
import { tokenFor } from './sent-mails.ts'
import { useApi } from './setup.ts'

// Its issuer never answers: the API starts all the same.
const api = useApi(
  { OIDC_ISSUER: 'http://127.0.0.1:2', OIDC_CLIENT_ID: 'belfry', PASSWORD_LOGIN: 'off' },
  {
    signsUp: false,
  },
)

const account = { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }

it.each([
  ['POST', '/api/v1/auth/register', account],
  ['POST', '/api/v1/auth/login', { email: account.email, password: account.password }],
  ['POST', '/api/v1/auth/login/factor', { sign_in_token: 'x', code: '123456' }],
  ['POST', '/api/v1/auth/login/passkey', { passkey: anAssertion }],
  ['POST', '/api/v1/auth/password/forgot', { email: account.email }],
  ['POST', '/api/v1/auth/password/reset', { token: 'x', password: account.password }],
])('PASSWORD_LOGIN=off refuses %s %s', async (method, path, body) => {
  expect((await api.send(method, path, body)).body).toMatchObject({ status: 403, code: 'password_login_off' })
})

it('refuses to change a password, to confirm or delete with one, and to create an account with an invitation', async () => {
  const { owner, id } = await anOrganization(api)
  const body = { password: 'another horse battery', current_password: 'x' }
  const changed = await api.send('PATCH', '/api/v1/auth/me', body, owner.session)
  expect(changed.body.code).toBe('password_login_off')
  const confirmed = await api.send('POST', '/api/v1/auth/confirm', { password: account.password }, owner.session)
  expect(confirmed.body.code).toBe('password_login_off')
  const deleted = await api.send('POST', '/api/v1/auth/me/delete', { current_password: 'x' }, owner.session)
  expect(deleted.body.code).toBe('password_login_off')
  expect((await api.send('PATCH', '/api/v1/auth/me', { name: 'Grace' }, owner.session)).status).toBe(200)
  const path = `/api/v1/organizations/${id}/invitations`
  await api.send('POST', path, { email: 'grace@example.com', role: 'member' }, owner.session)
  const token = await tokenFor(api, 'grace@example.com')
  const accepted = await api.send('POST', '/api/v1/invitations/accept', {
    token,
    name: 'Grace',
    password: account.password,
  })
  expect(accepted.body.code).toBe('password_login_off')
})

it('says that the issuer does not answer', async () => {
  expect((await api.send('POST', '/api/v1/auth/oidc/start', {})).body).toMatchObject({
    status: 503,
    code: 'unavailable',
  })
  expect((await api.send('GET', '/api/v1/auth/methods')).body).toEqual({
    password: false,
    oidc: { name: 'single sign-on', available: false },
  })
  expect(api.ctx.oidc?.problem()).toMatch(/^OIDC_ISSUER http:\/\/127.0.0.1:2\/ does not answer .*ECONNREFUSED/)
})
