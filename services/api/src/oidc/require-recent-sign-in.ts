import { AppError } from '@belfry/domain'
import type { Context } from '../context.ts'

const recentMs = 10 * 60_000

/** Throws `forbidden` unless a session began with a sign-in through the issuer, at most ten minutes ago. */
export async function requireRecentOidcSignIn(ctx: Context, sessionId: string): Promise<void> {
  const since = new Date(ctx.clock.now() - recentMs)
  const where = { id: sessionId, logoutHint: { not: null }, createdAt: { gt: since } }
  if ((await ctx.prisma.session.count({ where })) > 0) return
  const message = 'Send current_password, or do this within ten minutes after a sign-in with single sign-on.'
  throw new AppError('forbidden', message)
}
