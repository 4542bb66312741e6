import { z } from 'zod'
import { newApiKey } from './api-key.ts'
import { loginBody, session, signedIn } from './auth.ts'
import { textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { orNull, shownFlag, shownText, textOrNull } from './response-fields.ts'
import { loginFactorBody, passkeyLoginBody, passkeyLoginOptionsBody, passkeyOptions } from './second-factor.ts'
import { id, line } from './text-rules.ts'

/** Why a sign-in through the issuer failed: the sign-in page gets it as `?error=`. */
export type SignInError =
  | 'denied'
  | 'domain_refused'
  | 'email_missing'
  | 'email_unverified'
  | 'expired'
  | 'groups_missing'
  | 'invalid'
  | 'linked_to_another'
  | 'member_limit'
  | 'no_account'
  | 'outage'
  | 'rate_limited'
  | 'refused'
  | 'suspended'
  | 'unavailable'

const signInMethods = namedObject('SignInMethods', {
  password: shownFlag('Whether users sign in and register with a password.'),
  oidc: orNull(
    z.object({
      name: shownText('The name of the issuer for users.', 'Keycloak'),
      available: shownFlag('Whether the issuer answered when the API asked it last.'),
    }),
    { description: 'The OpenID Connect issuer; null without one.' },
  ),
})

export type SignInMethods = z.infer<typeof signInMethods>

export const signInOperations = {
  login: operation('POST', '/api/v1/auth/login', {
    right: 'public',
    summary: 'Sign in',
    body: loginBody,
    response: { status: 200, body: signedIn, setsCookie: true },
    errors: ['unauthenticated', 'second_factor_required', 'password_login_off'],
  }),

  loginWithFactor: operation('POST', '/api/v1/auth/login/factor', {
    right: 'public',
    summary: 'Continue a sign-in with a second factor',
    body: loginFactorBody,
    response: { status: 200, body: signedIn, setsCookie: true },
    errors: ['unauthenticated', 'password_login_off'],
  }),

  loginWithPasskey: operation('POST', '/api/v1/auth/login/passkey', {
    right: 'public',
    summary: 'Sign in with a passkey alone, whose authenticator has verified the user',
    body: passkeyLoginBody,
    response: { status: 200, body: signedIn, setsCookie: true },
    errors: ['unauthenticated', 'password_login_off'],
  }),

  passkeyLoginOptions: operation('POST', '/api/v1/auth/login/passkey/options', {
    right: 'public',
    summary: 'Get the options for signing in with a passkey, alone or as the second factor',
    body: passkeyLoginOptionsBody,
    response: { status: 200, body: passkeyOptions },
    errors: ['unauthenticated'],
  }),

  logout: operation('POST', '/api/v1/auth/logout', {
    right: 'signed_in',
    summary: 'End this session',
    response: { status: 204, setsCookie: true },
  }),

  getSignInMethods: operation('GET', '/api/v1/auth/methods', {
    right: 'public',
    summary: 'Read how users sign in',
    response: { status: 200, body: signInMethods },
  }),

  startOidc: operation('POST', '/api/v1/auth/oidc/start', {
    right: 'public',
    summary: 'Begin a sign-in through the OpenID Connect issuer of this installation',
    body: z.strictObject({
      return_to: z
        .string()
        .max(2000)
        .optional()
        .meta({ description: 'The path of the page to open after the sign-in.', examples: ['/'] }),
    }),
    response: {
      status: 200,
      body: namedObject('OidcStart', {
        url: shownText(
          'The page of the issuer where the user signs in. Only the browser that got the cookie can finish it.',
          'https://issuer.example.com/authorize?client_id=belfry',
        ),
      }),
      setsCookie: true,
    },
    errors: ['not_found', 'unavailable'],
  }),

  finishOidc: operation('GET', '/api/v1/auth/oidc/callback', {
    right: 'public',
    summary: 'Finish a sign-in: the issuer sends the browser here',
    response: { status: 303, setsCookie: true },
    errors: ['not_found'],
  }),

  logoutOidc: operation('POST', '/api/v1/auth/oidc/logout', {
    right: 'signed_in',
    summary: 'End this session, and return where the browser signs out of the issuer',
    response: {
      status: 200,
      body: namedObject('OidcLogout', {
        url: textOrNull(
          'Where the browser signs out of the issuer; null when that is not possible.',
          'https://issuer.example.com/logout',
        ),
      }),
      setsCookie: true,
    },
  }),

  exchangeToken: operation('POST', '/api/v1/auth/token-exchange', {
    right: 'public',
    summary: 'Exchange the OpenID Connect token of a CI job for an API key that expires soon',
    body: z.strictObject({
      federated_credential_id: textField(id('fed')),
      token: textField(line(16_384)).meta({
        description: 'The OpenID Connect token of the job, a signed JWT. Each works once.',
        examples: ['eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJyZXBvOmFjbWUvYXBwIn0.c2lnbmF0dXJl'],
      }),
    }),
    response: { status: 201, body: newApiKey },
    errors: ['unauthenticated', 'suspended', 'not_found'],
  }),

  listSessions: operation('GET', '/api/v1/auth/sessions', {
    right: 'signed_in',
    summary: 'List the sessions of the user, newest first',
    query: listQuery,
    response: { status: 200, body: pageOf(session) },
  }),

  endOtherSessions: operation('DELETE', '/api/v1/auth/sessions', {
    right: 'signed_in',
    summary: 'End all other sessions of the user',
  }),

  endSession: operation('DELETE', '/api/v1/auth/sessions/:session', {
    right: 'signed_in',
    summary: 'End a session of the user',
  }),
}
