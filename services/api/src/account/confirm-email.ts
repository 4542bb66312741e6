import { confirmEmailBody } from '@belfry/contract/auth'
import { callerAddress } from '../auth/caller-address.ts'
import { hashOneTimeToken } from '../auth/one-time-token.ts'
import { consumeReset } from '../auth/throttle.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'
import { recordConfirmedEmail } from './email-confirmation.ts'

export const confirmEmail = endpoint({
  right: 'public',
  summary: 'Confirm the email address of an account with the token of a link',
  answer: { status: 204 },
  refusals: ['rate_limited'],
  body: confirmEmailBody,
  async handle(ctx, { body, request }) {
    await consumeReset(ctx, callerAddress(request))
    const tokenHash = hashOneTimeToken(body.token)
    const valid = { tokenHash, expiresAt: { gt: new Date(ctx.clock.now()) } }
    const confirmation = await ctx.prisma.emailConfirmation.findFirst({ where: valid })
    if (!confirmation) {
      const message = 'The link is unknown, was used, or is older than a day. Request another one.'
      throw invalid('body', [{ path: 'token', code: 'invalid_token', message }])
    }
    await ctx.prisma.$transaction(tx => recordConfirmedEmail(ctx, tx, confirmation.userId))
    return noContent()
  },
})
