import type { OidcLogout, OidcStart, SignInMethods } from '@belfry/contract/sign-in'
import { post } from './operation.ts'
import { objectOptions } from './page.ts'

export const signInMethodsQuery = objectOptions<SignInMethods>(['sign-in-methods'], '/api/v1/auth/methods')

/** Begins a sign-in through the issuer, and returns the address of its page. */
export const startOidc = post('/api/v1/auth/oidc/start')<OidcStart, { return_to: string }>

/** Ends the session. Returns where the browser signs out of the issuer, if it has to. */
export const signOut = post('/api/v1/auth/oidc/logout')<OidcLogout>
