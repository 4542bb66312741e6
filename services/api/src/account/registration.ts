import { operations } from '@belfry/contract/operations'
import { isUniqueViolation, type PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid } from '@belfry/domain/id'
import { callerAddress } from '../auth/caller-address.ts'
import { consumeRegistration } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { Reply } from '../http/reply.ts'
import { mustConfirmEmail, storeConfirmationMail } from './email-confirmation.ts'
import { hashPassword, requirePasswordLogin } from './password.ts'
import { requireCheckedRegistration } from './registration-check.ts'
import { startSession } from './start-session.ts'

export const getRegistration = endpoint(operations.getRegistration, async ({ config, prisma }) => {
  const isFurther = await hasAccounts(prisma)
  const registration = registrationNow(config.registration, isFurther)
  const check_url = isFurther ? config.registrationCheckUrl : null
  return { registration, domains: config.registrationDomains, check_url }
})

export const register = endpoint(operations.register, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  const address = callerAddress(request)
  await consumeRegistration(ctx, address)
  const email = body.email.toLowerCase()
  const isFurther = await hasAccounts(ctx.prisma)
  requireOpenRegistration(ctx.config, email, isFurther) // before the expensive hash
  if (isFurther) await requireCheckedRegistration(ctx, { token: body.check_token ?? null, email, address })
  const passwordHash = await hashPassword(body.password, address)
  const session = await ctx.prisma
    .$transaction(async tx => {
      const isFirst = !(await hasAccountsForUpdate(tx))
      requireOpenRegistration(ctx.config, email, !isFirst)
      // The first account belongs to the operator, who may not have set up the mail server yet.
      const emailConfirmedAt = isFirst ? new Date(ctx.clock.now()) : null
      const data = { id: newUuid(), email, name: body.name, passwordHash, emailConfirmedAt }
      const user = await tx.user.create({ data })
      if (mustConfirmEmail(ctx, user)) await storeConfirmationMail(ctx, tx, user, address)
      return startSession(ctx, tx, user, request)
    })
    .catch(error => {
      throw isUniqueViolation(error) ? new AppError('email_taken', 'An account with this email already exists.') : error
    })
  return new Reply({ status: 201, ...session })
})

async function hasAccounts(prisma: Pick<PrismaTransaction, 'user'>): Promise<boolean> {
  return (await prisma.user.findFirst({ select: { id: true } })) !== null
}

type Config = Context['config']

/** Who may create an account without an invitation at this moment. */
export type Registration = Config['registration']

/**
 * Returns who may create an account. The first account of an installation needs no invitation, as no member exists who could send one.
 * @param hasAccounts - Whether an account exists.
 */
function registrationNow(configured: Registration, hasAccounts: boolean): Registration {
  return configured === 'invite' && !hasAccounts ? 'open' : configured
}

/** Throws `registration_closed` unless a user may create an account with this address. */
export function requireOpenRegistration(
  { registration, registrationDomains }: Pick<Config, 'registration' | 'registrationDomains'>,
  email: string,
  hasAccounts: boolean,
): void {
  const now = registrationNow(registration, hasAccounts)
  if (now === 'closed') throw closed('This installation creates no new accounts.')
  if (now === 'invite')
    throw closed('Accounts are created by invitation only. Ask a member of an organization for one.')
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (registrationDomains.length === 0 || registrationDomains.includes(domain)) return
  throw closed(`Use an email address of ${registrationDomains.join(' or ')}.`)
}

/** Throws `registration_closed` unless an invitation may create an account. */
export function requireRegistrationByInvitation({ registration }: Pick<Config, 'registration'>): void {
  if (registration === 'closed') throw closed('This installation creates no new accounts.')
}

function closed(message: string): AppError {
  return new AppError('registration_closed', message)
}

// Any number that nothing else uses for a lock.
const registrationLock = 742_001

/** Returns whether an account exists. No other transaction can create the first account until this one has ended. */
export async function hasAccountsForUpdate(tx: PrismaTransaction): Promise<boolean> {
  if (await hasAccounts(tx)) return true
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${registrationLock})`
  return hasAccounts(tx)
}
