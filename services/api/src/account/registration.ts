import { operations } from '@belfry/contract/operations'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError, invalidField } from '@belfry/domain/app-error'
import { newUuid } from '@belfry/domain/id'
import { callerAddress } from '../auth/caller-address.ts'
import { consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseDuplicate } from '../http/errors.ts'
import { ApiResponse } from '../http/response.ts'
import { mustConfirmEmail, storeConfirmationMail } from './mail-links.ts'
import { hashPassword, requirePasswordLogin } from './password.ts'
import { startSession } from './sessions.ts'

export const getRegistration = endpoint(operations.getRegistration, async ({ config, prisma }) => {
  const isFurther = await hasAccounts(prisma)
  const registration = registrationNow(config.registration, isFurther)
  const check_url = isFurther ? config.registrationCheckUrl : null
  return { registration, domains: config.registrationDomains, check_url }
})

export const register = endpoint(operations.register, async (ctx, { body, request }) => {
  requirePasswordLogin(ctx)
  const address = callerAddress(request)
  if (ctx.config.limitsRates) await consumeRequest(ctx, 'registration', address)
  const email = body.email.toLowerCase()
  const isFurther = await hasAccounts(ctx.prisma)
  requireOpenRegistration(ctx.config, email, isFurther) // before the expensive hash
  if (isFurther) await requireCheckedRegistration(ctx, { token: body.check_token ?? null, email, address })
  const passwordHash = await hashPassword(body.password, address)
  const open = async (tx: PrismaTransaction) => {
    const isFirst = !(await hasAccountsForUpdate(tx))
    requireOpenRegistration(ctx.config, email, !isFirst)
    // The first account belongs to the operator, who may not have set up the mail server yet.
    const emailConfirmedAt = isFirst ? new Date(ctx.clock.now()) : null
    const data = { id: newUuid(), email, name: body.name, passwordHash, emailConfirmedAt }
    const user = await tx.user.create({ data })
    if (mustConfirmEmail(ctx, user)) await storeConfirmationMail(ctx, tx, user, address)
    return startSession(ctx, tx, user, request)
  }
  const taken = new AppError('email_taken', 'An account with this email already exists.')
  const session = await refuseDuplicate(ctx.prisma.$transaction(open), taken)
  return new ApiResponse({ status: 201, ...session })
})

export async function hasAccounts(prisma: PrismaTransaction): Promise<boolean> {
  return (await prisma.user.findFirst({ select: { id: true } })) !== null
}

type Config = Context['config']

/** The first account of an installation may register without an invitation, because there is no member to send one. */
function registrationNow(configured: Config['registration'], hasAccounts: boolean): Config['registration'] {
  return configured === 'invite' && !hasAccounts ? 'open' : configured
}

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

const timeoutMs = 5_000

/**
 * Asks REGISTRATION_CHECK_URL whether a registration is allowed; without that variable each is.
 * @throws AppError `validation_failed` when it refuses, `unavailable` when it does not answer.
 */
async function requireCheckedRegistration(
  { config: { registrationCheckUrl: url }, log }: Context,
  registration: { token: string | null; email: string; address: string },
): Promise<void> {
  if (url === null) return
  // biome-ignore lint/style/noRestrictedGlobals: only the operator chooses this URL, and no target answers it
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(registration),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => cause)
  if (response instanceof Response) {
    await response.body?.cancel()
    if (response.ok) return
    if (response.status < 500) {
      const message = 'The check of this registration failed. Repeat it.'
      throw invalidField('check_token', 'invalid_token', message)
    }
  }
  log.warn({ err: response instanceof Response ? undefined : response }, 'registration.check_unavailable')
  throw new AppError('unavailable', 'Registrations cannot be checked at the moment. Try again later.')
}
