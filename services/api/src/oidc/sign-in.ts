import { operations } from '@belfry/contract/operations'
import { AppError, notFound } from '@belfry/domain/app-error'
import type { Request } from 'express'
import * as client from 'openid-client'
import { z } from 'zod'
import { endSessions } from '../account/sessions.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { cookieOf, noSessionCookie, setCookie } from '../auth/session-token.ts'
import { consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { toRefusal } from '../http/problem.ts'
import { ApiResponse } from '../http/response.ts'
import type { OidcProvider } from './provider.ts'
import { OidcSignInError, readIdentity } from './read-identity.ts'
import { openText, sealText } from './sealed-text.ts'
import { findOrganization, signInUser } from './sign-in-user.ts'

export const getSignInMethods = endpoint(operations.getSignInMethods, async ({ config, oidc }) => ({
  password: config.passwordLogin,
  oidc: oidc && { name: oidc.settings.name, available: oidc.problem() === null },
}))

/** Returns what operators have to know about the sign-in through the issuer, for `/readyz`. */
export async function warnOfOidc({ oidc, prisma }: Pick<Context, 'oidc' | 'prisma'>): Promise<string[]> {
  if (!oidc) return []
  await oidc.client().catch(() => null) // asks again when the last failure is a while ago
  const problem = oidc.problem()
  const named = [...new Set(oidc.settings.groupRoles.map(({ organization }) => organization))]
  const found = await Promise.all(named.map(one => findOrganization(prisma, one)))
  const unknown = named.filter((_, i) => found[i] === undefined)
  return [
    ...(problem === null ? [] : [problem]),
    ...unknown.map(name => `OIDC_GROUP_ROLES: there is no organization ${name}.`),
  ]
}

export const startOidc = endpoint(operations.startOidc, async (ctx, { body }) => {
  if (!ctx.oidc) throw notFound()
  const { settings } = ctx.oidc
  const returnTo = localPath(body.return_to ?? '/', ctx.config.publicUrl)
  const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
  const issuer = await ctx.oidc.client().catch(cause => {
    throw new AppError('unavailable', 'The issuer for the sign-in does not answer. Try again later.', { cause })
  })
  const url = client.buildAuthorizationUrl(issuer, {
    redirect_uri: redirectUri(ctx),
    scope: settings.scopes,
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return new ApiResponse({
    status: 200,
    headers: { 'Set-Cookie': await attemptCookie(ctx, { state, nonce, verifier, returnTo }) },
    body: { url: url.href },
  })
})

function redirectUri({ config }: Context): string {
  return `${config.publicUrl}/api/v1/auth/oidc/callback`
}

/** Returns the path of a page of this installation, with its query and fragment; `/` for the address of another one. */
export function localPath(text: string, publicUrl: string): string {
  if (!text.startsWith('/') || !URL.canParse(text, publicUrl)) return '/'
  const { origin, pathname, search, hash } = new URL(text, publicUrl)
  // A path such as `/.//other.example` parses into a path with two slashes at its start: another host.
  const path = `/${pathname.replace(/^[/\\]+/, '')}`
  return origin === new URL(publicUrl).origin ? `${path}${search}${hash}` : '/'
}

/** How long the ID token of a session is kept for the sign-out: as long as a session can last. */
const logoutHintMs = 30 * 24 * 3_600_000

export const finishOidc = endpoint(operations.finishOidc, async (ctx, { request }) => {
  if (!ctx.oidc) throw notFound()
  const ended = setCookie(ctx, 'belfry_oidc', '', new Date(0)) // each attempt can be finished once
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
  return new ApiResponse({ status: 303, headers: { Location: config.publicUrl + path, 'Set-Cookie': cookies } })
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
async function identify(ctx: Context, { client: find, settings }: OidcProvider, request: Request, begun: Attempt) {
  await consumeRequest(ctx, 'oidc', callerAddress(request))
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

export const logoutOidc = endpoint(operations.logoutOidc, async (ctx, { caller }) => {
  const { userId, sessionId } = caller
  const own = { id: sessionId, userId }
  const session = await ctx.prisma.session.findFirst({ where: own, select: { logoutHint: true } })
  await endSessions(ctx, caller, 'signed_out', sessionId)
  const url = session?.logoutHint ? await endOfSession(ctx, session.logoutHint) : null
  return new ApiResponse({ status: 200, headers: { 'Set-Cookie': noSessionCookie(ctx) }, body: { url } })
})

// An issuer that is away, or has no such endpoint, keeps its own session.
async function endOfSession(ctx: Context, sealed: string): Promise<string | null> {
  const hint = await openText(ctx.config.jwtKeys, 'sign-out', sealed, ctx.clock.now())
  const issuer = await ctx.oidc?.client().catch(() => null)
  if (!hint || !issuer?.serverMetadata().end_session_endpoint) return null
  return client.buildEndSessionUrl(issuer, {
    id_token_hint: String(hint.idToken),
    post_logout_redirect_uri: `${ctx.config.publicUrl}/sign-in`,
  }).href
}

/** A sign-in that has begun. The browser keeps it in a cookie, so only this browser can finish it. */
const attempt = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
})

type Attempt = z.infer<typeof attempt>

/** How long a user has at the issuer. */
const attemptMs = 10 * 60_000

async function attemptCookie(ctx: Context, begun: Attempt): Promise<string> {
  const now = ctx.clock.now()
  const sealed = await sealText(ctx.config.jwtKeys[0], 'sign-in', begun, attemptMs, now)
  return setCookie(ctx, 'belfry_oidc', sealed, new Date(now + attemptMs))
}

async function attemptOf(ctx: Context, request: Request): Promise<Attempt | null> {
  const sealed = cookieOf(ctx, request, 'belfry_oidc')
  if (!sealed) return null
  const result = attempt.safeParse(await openText(ctx.config.jwtKeys, 'sign-in', sealed, ctx.clock.now()))
  return result.success ? result.data : null
}
