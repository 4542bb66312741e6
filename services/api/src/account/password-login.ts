import { AppError } from '@belfry/domain/app-error'
import type { Context } from '../context.ts'

/** Throws `password_login_off` where users sign in through the issuer only. */
export function requirePasswordLogin({ config }: Pick<Context, 'config'>): void {
  if (config.passwordLogin) return
  throw new AppError('password_login_off', 'Users of this installation sign in with single sign-on only.')
}
