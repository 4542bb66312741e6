import { newApiKey } from '../api-key.ts'
import { loginBody, session, signedIn } from '../auth.ts'
import { exchangeTokenBody } from '../federated-credential.ts'
import { operation } from '../operation.ts'
import { listQuery, pageOf } from '../page.ts'
import { loginFactorBody, passkeyLoginBody, passkeyLoginOptionsBody, passkeyOptions } from '../second-factor.ts'
import { oidcLogout, oidcStart, signInMethods, startOidcBody } from '../sign-in.ts'

export const signInOperations = {
  login: operation('POST', '/api/v1/auth/login', {
    right: 'public',
    summary: 'Sign in',
    body: loginBody,
    answer: { status: 200, body: signedIn, setsCookie: true },
    refusals: ['unauthenticated', 'second_factor_required', 'password_login_off'],
  }),

  loginWithFactor: operation('POST', '/api/v1/auth/login/factor', {
    right: 'public',
    summary: 'Continue a sign-in with a second factor',
    body: loginFactorBody,
    answer: { status: 200, body: signedIn, setsCookie: true },
    refusals: ['unauthenticated', 'password_login_off'],
  }),

  loginWithPasskey: operation('POST', '/api/v1/auth/login/passkey', {
    right: 'public',
    summary: 'Sign in with a passkey alone, whose authenticator has verified the user',
    body: passkeyLoginBody,
    answer: { status: 200, body: signedIn, setsCookie: true },
    refusals: ['unauthenticated', 'password_login_off'],
  }),

  passkeyLoginOptions: operation('POST', '/api/v1/auth/login/passkey/options', {
    right: 'public',
    summary: 'Get the options for signing in with a passkey, alone or as the second factor',
    body: passkeyLoginOptionsBody,
    answer: { status: 200, body: passkeyOptions },
    refusals: ['unauthenticated'],
  }),

  logout: operation('POST', '/api/v1/auth/logout', {
    right: 'signed_in',
    summary: 'End this session',
    answer: { status: 204, setsCookie: true },
  }),

  getSignInMethods: operation('GET', '/api/v1/auth/methods', {
    right: 'public',
    summary: 'Read how users sign in',
    answer: { status: 200, body: signInMethods },
  }),

  startOidc: operation('POST', '/api/v1/auth/oidc/start', {
    right: 'public',
    summary: 'Begin a sign-in through the OpenID Connect issuer of this installation',
    body: startOidcBody,
    answer: { status: 200, body: oidcStart, setsCookie: true },
    refusals: ['not_found', 'unavailable'],
  }),

  finishOidc: operation('GET', '/api/v1/auth/oidc/callback', {
    right: 'public',
    summary: 'Finish a sign-in: the issuer sends the browser here',
    answer: { status: 303, setsCookie: true },
    refusals: ['not_found'],
  }),

  logoutOidc: operation('POST', '/api/v1/auth/oidc/logout', {
    right: 'signed_in',
    summary: 'End this session, and return where the browser signs out of the issuer',
    answer: { status: 200, body: oidcLogout, setsCookie: true },
  }),

  exchangeToken: operation('POST', '/api/v1/auth/token-exchange', {
    right: 'public',
    summary: 'Exchange the OpenID Connect token of a CI job for an API key that expires soon',
    body: exchangeTokenBody,
    answer: { status: 201, body: newApiKey },
    refusals: ['unauthenticated', 'suspended', 'not_found'],
  }),

  listSessions: operation('GET', '/api/v1/auth/sessions', {
    right: 'signed_in',
    summary: 'List the sessions of the user, newest first',
    query: listQuery,
    answer: { status: 200, body: pageOf(session) },
  }),

  endOtherSessions: operation('DELETE', '/api/v1/auth/sessions', {
    right: 'signed_in',
    summary: 'End all other sessions of the user',
    answer: { status: 204 },
  }),

  endSession: operation('DELETE', '/api/v1/auth/sessions/:session', {
    right: 'signed_in',
    summary: 'End a session of the user',
    answer: { status: 204 },
  }),
}
