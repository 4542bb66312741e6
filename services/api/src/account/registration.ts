import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import type { Context } from '../context.ts'

type Config = Context['config']

/** Who may create an account without an invitation at this moment. */
export type Registration = Config['registration']

/**
 * Returns who may create an account. The first account of an installation needs no invitation, as no member exists who could send one.
 * @param hasAccounts - Whether an account exists.
 */
export function registrationNow(configured: Registration, hasAccounts: boolean): Registration {
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
  const exists = async () => (await tx.user.findFirst({ select: { id: true } })) !== null
  if (await exists()) return true
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${registrationLock})`
  return exists()
}
