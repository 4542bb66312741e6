import { operations } from '@belfry/contract/operations'
import { recordAccountEntry } from '@belfry/db/account-log'
import * as client from 'openid-client'
import { noSessionCookie } from '../auth/cookies.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { Reply } from '../http/reply.ts'
import { openText } from './sealed-text.ts'

export const logoutOidc = endpoint(operations.logoutOidc, async (ctx, { caller }) => {
  const { userId, sessionId, address } = caller
  const session = await ctx.prisma.$transaction(async tx => {
    const [row] = await tx.session.findMany({ where: { id: sessionId, userId }, select: { logoutHint: true } })
    const { count } = await tx.session.deleteMany({ where: { id: sessionId, userId } })
    if (count > 0) await recordAccountEntry(tx, { userId, action: 'signed_out', address })
    return row
  })
  const url = session?.logoutHint ? await endOfSession(ctx, session.logoutHint) : null
  return new Reply({ status: 200, headers: { 'Set-Cookie': noSessionCookie(ctx) }, body: { url } })
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
