import { operations } from '@belfry/contract/operations'
import type { ConfirmIdentityBody } from '@belfry/contract/second-factor'
import { provePassword, requirePasswordLogin } from '../account/password.ts'
import type { UserCaller } from '../auth/find-user.ts'
import { factorsOf } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { signingOptions } from './passkeys.ts'
import { proveFactor } from './prove-factor.ts'

export const confirmIdentity = endpoint(operations.confirmIdentity, async (ctx, { caller, body }) => {
  const hasSecondFactor = await prove(ctx, caller, body)
  await ctx.prisma.session.updateMany({
    where: { id: caller.sessionId },
    data: { confirmedAt: new Date(ctx.clock.now()), ...(hasSecondFactor ? { hasSecondFactor } : {}) },
  })
})

/** Returns whether the proof is a second factor. Throws `validation_failed` for a wrong proof. */
async function prove(ctx: Context, { userId, sessionId, address }: UserCaller, body: ConfirmIdentityBody) {
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  const from = { address, known: sessionId }
  const hasFactors = (await factorsOf(ctx.prisma, userId)).length > 0
  const { password } = body
  if (password === undefined) {
    if (!(await proveFactor(ctx, user, from, body))) throw wrong(body)
    return true
  }
  requirePasswordLogin(ctx)
  if (hasFactors) {
    const message = 'The account has a second factor: confirm with that.'
    throw invalid('body', [{ path: 'password', code: 'second_factor_required', message }])
  }
  if (!(await provePassword(ctx, user, from, password))) throw wrong(body)
  return false
}

/** Returns the refusal of a proof, which names its field. */
function wrong({ password, code, recovery_code }: ConfirmIdentityBody) {
  if (password !== undefined) {
    return invalid('body', [{ path: 'password', code: 'wrong_password', message: 'The password is wrong.' }])
  }
  if (code !== undefined) {
    return invalid('body', [{ path: 'code', code: 'wrong_code', message: 'The code is wrong, expired or used.' }])
  }
  if (recovery_code !== undefined) {
    const message = 'The recovery code is wrong or used.'
    return invalid('body', [{ path: 'recovery_code', code: 'wrong_code', message }])
  }
  return invalid('body', [{ path: 'passkey', code: 'wrong_passkey', message: 'The passkey is not one of yours.' }])
}

export const confirmIdentityOptions = endpoint(operations.confirmIdentityOptions, async (ctx, { caller }) =>
  signingOptions(ctx, caller.userId),
)
