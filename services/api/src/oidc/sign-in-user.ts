import { recordAccountEntry } from '@belfry/db/account-log'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid } from '@belfry/domain/id'
import type { Request } from 'express'
import { recordConfirmedEmail } from '../account/email-confirmation.ts'
import type { UserRow } from '../account/me.ts'
import { noPasswordHash } from '../account/password.ts'
import { hasAccountsForUpdate, requireOpenRegistration } from '../account/registration.ts'
import { startSession } from '../account/start-session.ts'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { applyGroups } from './apply-groups.ts'
import { rolesOf } from './group-roles.ts'
import type { Identity } from './read-identity.ts'
import type { OidcSettings } from './settings.ts'
import { OidcSignInError } from './sign-in-error.ts'

/** Signs a user in whom the issuer has identified: finds or creates the account, and sets the roles of its groups. */
export async function signInUser(
  ctx: Context,
  settings: OidcSettings,
  identity: Identity,
  { request, logoutHint }: { request: Request; logoutHint: string },
): Promise<Awaited<ReturnType<typeof startSession>>> {
  const address = callerAddress(request)
  return ctx.prisma.$transaction(async tx => {
    // One transaction per identity and per address, so two first sign-ins do not create or link two accounts.
    await lockText(tx, identity.email)
    await lockText(tx, `${identity.issuer} ${identity.subject}`)
    const user = await findOrCreate(ctx, tx, settings, identity, address)
    if (user.suspendedAt) throw new OidcSignInError('suspended', 'The user is suspended.')
    await applyGroups(ctx, tx, settings, identity, { userId: user.id, address })
    return startSession(ctx, tx, user, request, { hasSecondFactor: identity.hasSecondFactor, logoutHint })
  })
}

async function lockText(tx: PrismaTransaction, text: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`oidc ${text}`}, 0))`
}

async function findOrCreate(
  ctx: Context,
  tx: PrismaTransaction,
  settings: OidcSettings,
  identity: Identity,
  address: string,
): Promise<UserRow & { suspendedAt: Date | null }> {
  const { issuer, subject, email, name } = identity
  const linked = await tx.userIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  })
  if (linked) return linked.user
  const user = await tx.user.findUnique({ where: { email }, include: { identities: { where: { issuer } } } })
  if (!user) {
    await requireAdmission(ctx, tx, settings, identity)
    const emailConfirmedAt = new Date(ctx.clock.now())
    const identities = { create: { issuer, subject } }
    return tx.user.create({
      data: { id: newUuid(), email, name, passwordHash: await noPasswordHash(), emailConfirmedAt, identities },
    })
  }
  // An address that the issuer has given to another person does not open the account of the previous one.
  if (user.identities.length > 0) {
    throw new OidcSignInError('linked_to_another', 'The account is linked to another identity of the issuer.')
  }
  await recordConfirmedEmail(ctx, tx, user.id, false)
  await tx.userIdentity.create({ data: { issuer, subject, userId: user.id } })
  await recordAccountEntry(tx, { userId: user.id, action: 'identity_linked', address })
  return user
}

/** Throws unless a new user may have an account: by a group, a domain, an invitation or open registration. */
async function requireAdmission(
  ctx: Context,
  tx: PrismaTransaction,
  { domains, groupRoles }: OidcSettings,
  { email, groups }: Identity,
): Promise<void> {
  const refused = (cause?: unknown) => new OidcSignInError('no_account', 'The user may not get an account.', cause)
  if (ctx.config.registration === 'closed') throw refused()
  const isMapped = [...rolesOf(groupRoles, groups).values()].some(granted => granted !== null)
  if (isMapped || domains.length > 0) return // readIdentity has checked the domain
  const now = new Date(ctx.clock.now())
  const open = { email, acceptedAt: null, revokedAt: null, expiresAt: { gt: now }, organization: { deletedAt: null } }
  if ((await tx.invitation.count({ where: open })) > 0) return
  try {
    requireOpenRegistration(ctx.config, email, await hasAccountsForUpdate(tx))
  } catch (error) {
    throw error instanceof AppError ? refused(error) : error
  }
}
