import { newUuid } from '@belfry/domain/id'
import { afterAll, beforeEach } from 'vitest'
import { type FakeIssuer, startFakeIssuer } from './fake-issuer.ts'
import { type Json, useApi } from './setup.ts'

/** A sign-in that a browser has begun. */
export type Begun = { cookie: string; state: string; nonce: string }

/** The slug of the organization in which the groups `guests`, `staff`, `admins` and `owners` have roles. */
export const mapped = newUuid()

/**
 * Runs the API with an issuer, and signs users in through it.
 * @param environment - More variables, perhaps depending on the database. Default: none.
 */
export function useOidc(environment: (databaseUrl: string) => Promise<Record<string, string>> = async () => ({})) {
  let issuer: FakeIssuer
  const api = useApi(async databaseUrl => {
    issuer = await startFakeIssuer()
    return {
      REGISTRATION: 'invite',
      ...(await environment(databaseUrl)),
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: 'belfry',
      OIDC_CLIENT_SECRET: 'a secret of the client',
      OIDC_NAME: 'Acme ID',
      OIDC_GROUP_ROLES: JSON.stringify({
        guests: { organization: mapped, role: 'member' },
        staff: { organization: mapped, role: 'member', workspace_role: 'viewer' },
        admins: { organization: mapped, role: 'admin' },
        owners: { organization: mapped, role: 'owner' },
        lost: { organization: 'no-such-organization', role: 'owner' },
      }),
    }
  })
  afterAll(() => issuer?.close())
  beforeEach(() => {
    issuer.userInfo = {}
  })

  async function begin(returnTo = '/'): Promise<Begun> {
    const { headers, body } = await api.send('POST', '/api/v1/auth/oidc/start', { return_to: returnTo })
    const { searchParams } = new URL(body.url)
    const [state = '', nonce = ''] = [searchParams.get('state') ?? '', searchParams.get('nonce') ?? '']
    return { cookie: cookieOf(headers, 'belfry_oidc'), state, nonce }
  }

  async function finish(
    begun: Begun,
    token: string,
    changes: { state?: string; iss?: string; cookie?: string; accept?: string } = {},
  ) {
    const code = newUuid()
    issuer.tokens.set(code, token)
    const query = new URLSearchParams({ code, state: changes.state ?? begun.state, iss: changes.iss ?? issuer.url })
    const response = await fetch(`${api.url}/api/v1/auth/oidc/callback?${query}`, {
      headers: { Cookie: changes.cookie ?? begun.cookie, Accept: changes.accept ?? '*/*' },
      redirect: 'manual',
    })
    return {
      status: response.status,
      ...(response.status >= 400 && { problem: (await response.json()) as Json }),
      location: response.headers.get('location')?.replace('http://belfry.test', ''),
      session: cookieOf(response.headers, 'belfry_session'),
      ended: response.headers.getSetCookie().some(cookie => cookie.startsWith('belfry_oidc=;')),
    }
  }

  /** Signs in with an honest token with these claims. */
  async function signIn(changes: Json = {}, returnTo = '/') {
    const begun = await begin(returnTo)
    issuer.userInfo = { sub: changes.sub }
    const claims = claimsOf(begun, { ...changes, groups: changes.groups ?? ['staff'] })
    issuer.userInfo.sub = claims.sub
    return finish(begun, await issuer.sign(claims))
  }

  return {
    api,
    get issuer() {
      return issuer
    },
    ...{ begin, finish, signIn },
  }
}

/** Returns the claims of an honest ID token, with changes. */
export const claimsOf = (begun: Begun, changes: Json = {}) => ({
  ...{ sub: newUuid(), aud: 'belfry', nonce: begun.nonce },
  ...{ email: `${newUuid()}@example.com`, email_verified: true, name: 'Ada' },
  ...changes,
})

function cookieOf(headers: Headers, name: string): string {
  const cookies = headers.getSetCookie().filter(cookie => cookie.startsWith(`${name}=`))
  return cookies[0]?.split(';')[0] ?? ''
}
