import { me, type UpdateMeBody, updateMeBody } from '@belfry/contract/auth'
import { recordAccountEntry } from '@belfry/db/account-log'
import type { AppError } from '@belfry/domain/app-error'
import type { UserCaller } from '../auth/find-user.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { mailPasswordChange } from './account-mail.ts'
import { readMe } from './get-me.ts'
import { hashPassword, provePassword } from './password.ts'
import { requirePasswordLogin } from './password-login.ts'

export const updateMe = endpoint({
  right: 'signed_in',
  summary: 'Change the name or the password of the user; a password ends all other sessions',
  answer: { status: 200, body: me },
  body: updateMeBody,
  async handle(ctx, { caller, body }) {
    const { password, current_password: current } = body
    if (password !== undefined && current !== undefined) await changePassword(ctx, caller, current, password)
    await rename(ctx, caller.userId, body)
    return ok(await readMe(ctx, caller.userId))
  },
})

async function changePassword(ctx: Context, caller: UserCaller, current: string, password: string): Promise<void> {
  requirePasswordLogin(ctx)
  const { userId, sessionId } = caller
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  if (!(await provePassword(ctx, user, { address: caller.address, known: sessionId }, current))) throw wrongPassword()
  const { passwordHash } = user
  const changed = await hashPassword(password)
  await ctx.prisma.$transaction(async tx => {
    const { count } = await tx.user.updateMany({ where: { id: userId, passwordHash }, data: { passwordHash: changed } })
    if (count === 0) throw wrongPassword() // another request has changed it meanwhile
    await tx.session.deleteMany({ where: { userId, id: { not: sessionId } } })
    await tx.challenge.deleteMany({ where: { userId } }) // sign-ins with the old password
    await recordAccountEntry(tx, { userId, action: 'password_changed', address: caller.address })
    await mailPasswordChange(ctx, tx, user, caller.address)
  })
}

async function rename(ctx: Context, userId: string, { name }: UpdateMeBody): Promise<void> {
  if (name !== undefined) await ctx.prisma.user.update({ where: { id: userId }, data: { name } })
}

function wrongPassword(): AppError {
  const error = {
    path: 'current_password',
    code: 'wrong_password',
    message: 'The current password is wrong.',
  }
  return invalid('body', [error])
}
