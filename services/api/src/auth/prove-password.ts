import type { Context } from '../context.ts'
import { inHashingSlot, isPassword } from './password.ts'
import { takeLoginTurn } from './throttle.ts'

/**
 * Whether somebody knows the password of an account; `passwordHash` is null where there is no such account, which takes
 * the same time. The attempt is counted while it is made, two at a time in each process: failures exactly, and many who
 * know the password do not hold each other back.
 * @throws AppError `rate_limited`.
 */
export function provePassword(
  ctx: Context,
  { email, passwordHash }: { email: string; passwordHash: string | null },
  address: string,
  password: string,
): Promise<boolean> {
  return inHashingSlot(async () => {
    const turn = await takeLoginTurn(ctx, email, address)
    const matches = await isPassword(password, passwordHash)
    if (matches) await turn.giveBack()
    return matches
  })
}
