import { operations } from '@belfry/contract/operations'
import { AppError } from '@belfry/domain/app-error'
import * as client from 'openid-client'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { Reply } from '../http/reply.ts'
import { attemptCookie, newAttempt } from './attempt.ts'

export const startOidc = endpoint(operations.startOidc, async (ctx, { body }) => {
  if (!ctx.oidc) throw notFound()
  const { settings } = ctx.oidc
  const begun = newAttempt(localPath(body.return_to ?? '/', ctx.config.publicUrl))
  const issuer = await ctx.oidc.client().catch(cause => {
    throw new AppError('unavailable', 'The issuer for the sign-in does not answer. Try again later.', { cause })
  })
  const url = client.buildAuthorizationUrl(issuer, {
    redirect_uri: redirectUri(ctx),
    scope: settings.scopes,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: 'S256',
  })
  return new Reply({ status: 200, headers: { 'Set-Cookie': await attemptCookie(ctx, begun) }, body: { url: url.href } })
})

/** Returns where the issuer sends users back. */
export function redirectUri({ config }: Context): string {
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
