import { setTimeout as sleep } from 'node:timers/promises'
import { forgotPasswordBody } from '@belfry/contract/auth'
import { recordAccountEntry } from '@belfry/db/account-log'
import { addToOutbox } from '@belfry/db/outbox/outbox'
import { newUuid } from '@belfry/domain/id'
import { type Message, passwordResetMail } from '@belfry/messages'
import { callerAddress } from '../auth/caller-address.ts'
import { newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeReset, mayGetResetMail } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { requirePasswordLogin } from './password-login.ts'

const resetMs = 3_600_000

// Longer than the work takes, so the response time does not reveal whether the account exists. When a busy machine takes
// longer, the response is sent at the next multiple.
const responseStepMs = 400

export const forgotPassword = endpoint({
  right: 'public',
  summary: 'Send a link for choosing a new password, if the address has an account',
  answer: { status: 202 },
  refusals: ['rate_limited', 'password_login_off'],
  body: forgotPasswordBody,
  async handle(ctx, { body, request }) {
    requirePasswordLogin(ctx)
    await consumeReset(ctx, callerAddress(request))
    const began = performance.now()
    await sendLink(ctx, body.email.toLowerCase(), callerAddress(request))
    await sleep(responseStepMs - ((performance.now() - began) % responseStepMs))
    return { status: 202 }
  },
})

async function sendLink(ctx: Context, email: string, address: string): Promise<void> {
  if (!(await mayGetResetMail(ctx, email))) return
  const { masterKeys, publicUrl } = ctx.config
  const { token, tokenHash } = newOneTimeToken()
  const message: Message = { type: 'mail', mail: passwordResetMail(email, `${publicUrl}/reset-password#${token}`) }
  const id = newUuid()
  const content = JSON.stringify(message)
  await ctx.prisma.$transaction(async tx => {
    const user = await tx.user.findUnique({ where: { email }, select: { id: true } })
    if (!user) return
    const expiresAt = new Date(ctx.clock.now() + resetMs)
    await tx.passwordReset.create({ data: { tokenHash, userId: user.id, expiresAt } })
    await recordAccountEntry(tx, { userId: user.id, action: 'password_reset_requested', address })
    await addToOutbox(tx, { id, kind: 'mail', label: 'password reset', content, masterKeys, usefulMs: resetMs })
  })
}
