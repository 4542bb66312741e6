import { operations } from '@belfry/contract/operations'
import { AppError } from '@belfry/domain/app-error'
import type { Request } from 'express'
import * as client from 'openid-client'
import { callerAddress } from '../auth/caller-address.ts'
import { consumeOidcSignIn } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { toRefusal } from '../http/problem.ts'
import { notFound } from '../http/refusals.ts'
import { Reply } from '../http/reply.ts'
import { type Attempt, attemptOf, noAttemptCookie } from './attempt.ts'
import type { OidcProvider } from './provider.ts'
import { type Identity, readIdentity } from './read-identity.ts'
import { sealText } from './sealed-text.ts'
import { OidcSignInError } from './sign-in-error.ts'
import { signInUser } from './sign-in-user.ts'
import { redirectUri } from './start-oidc.ts'

/** How long the ID token of a session is kept for the sign-out: as long as a session can last. */
const logoutHintMs = 30 * 24 * 3_600_000

export const finishOidc = endpoint(operations.finishOidc, async (ctx, { request }) => {
  if (!ctx.oidc) throw notFound()
  const ended = noAttemptCookie(ctx)
  try {
    const begun = await attemptOf(ctx, request)
    if (!begun) throw new OidcSignInError('expired', 'This browser has begun no such sign-in.')
    const { identity, idToken } = await identify(ctx, ctx.oidc, request, begun)
    const { jwtKeys } = ctx.config
    const logoutHint = await sealText(jwtKeys[0], 'sign-out', { idToken }, logoutHintMs, ctx.clock.now())
    const session = await signInUser(ctx, ctx.oidc.settings, identity, { request, logoutHint })
    const cookies = [...session.headers['Set-Cookie'], ended]
    return redirect(ctx, begun.returnTo, cookies)
  } catch (error) {
    const code = codeOf(error, request)
    if (code === null) throw error
    ctx.log.warn({ code, reason: reasonOf(error), address: callerAddress(request) }, 'oidc.sign_in_failed')
    return redirect(ctx, `/sign-in?error=${code}`, [ended])
  }
})

function redirect({ config }: Context, path: string, cookies: string[]) {
  return new Reply({ status: 303, headers: { Location: config.publicUrl + path, 'Set-Cookie': cookies } })
}

function codeOf(error: unknown, request: Request) {
  if (error instanceof OidcSignInError) return error.code
  // A browser shows the answer to a person. Other clients get the problem.
  if (toRefusal(error).code === 'unavailable') return request.accepts(['json', 'html']) === 'html' ? 'outage' : null
  if (!(error instanceof AppError)) return null
  if (error.code === 'rate_limited') return 'rate_limited' as const
  return error.code === 'quota_exceeded' ? ('member_limit' as const) : null
}

// The messages only: the errors of the client have the response of the issuer, with codes and tokens.
function reasonOf(error: unknown): string {
  const messages: string[] = []
  for (let one = error; one instanceof Error && messages.length < 4; one = one.cause) {
    const code = 'error' in one && typeof one.error === 'string' ? ` (${one.error})` : ''
    messages.push(one.message + code)
  }
  return messages.join(': ').slice(0, 500)
}

/** Exchanges the code of a response for the tokens of the user, and checks both. */
async function identify(
  ctx: Context,
  { client: find, settings }: OidcProvider,
  request: Request,
  begun: Attempt,
): Promise<{ identity: Identity; idToken: string }> {
  await consumeOidcSignIn(ctx, callerAddress(request))
  const issuer = await find().catch(cause => {
    throw new OidcSignInError('unavailable', 'The issuer does not answer.', cause)
  })
  const url = new URL(redirectUri(ctx))
  url.search = new URL(request.originalUrl, ctx.config.publicUrl).search
  const tokens = await client
    .authorizationCodeGrant(issuer, url, {
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      pkceCodeVerifier: begun.verifier,
      idTokenExpected: true,
    })
    .catch(cause => {
      throw refusal(cause)
    })
  const claims = tokens.claims()
  if (!claims || !tokens.id_token) throw new OidcSignInError('invalid', 'The issuer sent no ID token.')
  const info = issuer.serverMetadata().userinfo_endpoint
    ? await client.fetchUserInfo(issuer, tokens.access_token, claims.sub).catch(cause => {
        throw new OidcSignInError('invalid', 'The user info endpoint of the issuer failed.', cause)
      })
    : null
  return { identity: readIdentity(settings, claims, info), idToken: tokens.id_token }
}

function refusal(cause: unknown): OidcSignInError {
  if (cause instanceof client.AuthorizationResponseError) {
    const code = cause.error === 'access_denied' ? 'denied' : 'refused'
    return new OidcSignInError(code, 'The issuer refused the sign-in.', cause)
  }
  if (cause instanceof client.ResponseBodyError) {
    return new OidcSignInError('refused', 'The issuer refused the code or the client.', cause)
  }
  const isAway = cause instanceof client.ClientError && cause.code === 'OAUTH_TIMEOUT'
  if (isAway || cause instanceof TypeError)
    return new OidcSignInError('unavailable', 'The issuer does not answer.', cause)
  return new OidcSignInError('invalid', 'The response of the issuer is not one to this sign-in.', cause)
}
