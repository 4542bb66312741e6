import type { OidcLogout, OidcStart, SignInMethods } from '@belfry/contract/sign-in'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export const signInMethodsQuery = queryOptions({
  queryKey: ['sign-in-methods'],
  queryFn: ({ signal }) => call<SignInMethods>('GET', '/api/v1/auth/methods', { signal }),
})

/** Begins a sign-in through the issuer, and returns the address of its page. */
export function startOidc(returnTo: string): Promise<OidcStart> {
  return call('POST', '/api/v1/auth/oidc/start', { body: { return_to: returnTo } })
}

/** Ends the session. Returns where the browser signs out of the issuer, if it has to. */
export function signOut(): Promise<OidcLogout> {
  return call('POST', '/api/v1/auth/oidc/logout')
}
