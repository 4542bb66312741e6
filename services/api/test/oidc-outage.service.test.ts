import { newUuid } from '@belfry/domain/id'
import { serviceUrl } from '@belfry/test-support'
import { expect, it } from 'vitest'
import { claimsOf, useOidc } from './oidc-sign-in.ts'
import { putWireBefore, type SeverableDatabase } from './severable-database.ts'

let wire: SeverableDatabase
const oidc = useOidc(async databaseUrl => {
  wire = await putWireBefore(databaseUrl)
  return { DATABASE_URL: serviceUrl(wire.url, 'api'), OIDC_DOMAINS: 'example.com' }
})
const { api, begin, finish, signIn } = oidc

const problem = { status: 503, code: 'unavailable' }
const unavailable = { status: 503, problem, location: undefined, session: '', ended: false }

/** Returns the accounts with an address, and the sessions of these. */
async function accountsOf(email: string) {
  const { rows } = await api.db.query(
    `SELECT (SELECT count(*)::int FROM sessions s WHERE s.user_id = u.id) AS sessions FROM users u WHERE email = $1`,
    [email],
  )
  return rows
}

it('is refused with 503 while the database is away, and succeeds when the browser repeats the request', async () => {
  const begun = await begin('/account/profile')
  const claims = claimsOf(begun)
  const token = await oidc.issuer.sign(claims)
  oidc.issuer.userInfo = { sub: claims.sub }
  await wire.cut()
  const refused = await finish(begun, token)
  await wire.restore()
  expect(refused).toMatchObject(unavailable)
  expect(await accountsOf(claims.email)).toEqual([])

  await expect.poll(() => api.send('GET', '/api/v1/auth/register').then(({ status }) => status)).toBe(200)
  const repeated = await finish(begun, token)
  expect(repeated).toMatchObject({ status: 303, location: '/account/profile', ended: true })
  expect(repeated.session).not.toBe('')
  expect(await accountsOf(claims.email)).toEqual([{ sessions: 1 }])
})

it('leads a browser to the sign-in page while the database is away, where it can begin again', async () => {
  const begun = await begin()
  const claims = claimsOf(begun)
  oidc.issuer.userInfo = { sub: claims.sub }
  await wire.cut()
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const refused = await finish(begun, await oidc.issuer.sign(claims), { accept })
  await wire.restore()
  expect(refused).toMatchObject({ status: 303, location: '/sign-in?error=outage', session: '', ended: true })
  expect(await accountsOf(claims.email)).toEqual([])

  await expect.poll(() => api.send('GET', '/api/v1/auth/register').then(({ status }) => status)).toBe(200)
  expect(await signIn()).toMatchObject({ status: 303, location: '/', ended: true })
})

it('leaves no account and no session when the database goes away after the issuer has answered', async () => {
  const begun = await begin()
  const claims = claimsOf(begun)
  // The last request to the issuer of a sign-in.
  const lost = Object.defineProperty({ sub: claims.sub }, 'name', {
    enumerable: true,
    get: () => {
      void wire.cut()
      return 'Ada'
    },
  })
  oidc.issuer.userInfo = lost
  const refused = await finish(begun, await oidc.issuer.sign(claims))
  await wire.restore()
  expect(refused).toMatchObject(unavailable)
  expect(await accountsOf(claims.email)).toEqual([])

  await expect.poll(() => api.send('GET', '/api/v1/auth/register').then(({ status }) => status)).toBe(200)
  const email = `${newUuid()}@example.com`
  const again = await signIn({ email, groups: [] })
  expect(again).toMatchObject({ status: 303, location: '/', ended: true })
  expect(await accountsOf(email)).toEqual([{ sessions: 1 }])
})
