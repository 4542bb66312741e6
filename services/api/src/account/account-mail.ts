import { recordAccountEntry } from '@belfry/db/account-log'
import { readMailBlock } from '@belfry/db/outbox/mail-blocks'
import { addToOutbox, type MessageTenant } from '@belfry/db/outbox/outbox'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import type { AnyTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import type { AccountAction } from '@belfry/domain/audit-action'
import { newUuid } from '@belfry/domain/id'
import { factorChangeMail, type Mail, type Message, newDeviceMail, passwordChangedMail } from '@belfry/messages'
import type { Request } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import { type MailKind, mayMail } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { agentOf, deviceName, knownDevice } from './device.ts'

export type Recipient = { id: string; email: string }

/**
 * Stores a mail about a sign-in, unless the browser is known by its cookie, or the same program signed in from the same
 * address within 90 days. Skips the first sign-in of a new account. Call it before the sign-in is logged.
 */
export async function mailNewDevice(
  ctx: Context,
  tx: PrismaTransaction,
  user: Recipient,
  request: Request,
): Promise<void> {
  if (knownDevice(ctx, request, user.id) !== null) return
  const [agent, address] = [agentOf(request), callerAddress(request)]
  const [found] = await tx.$queryRaw<Array<{ isKnown: boolean }>>`
    SELECT NOT EXISTS (SELECT FROM account_log WHERE user_id = ${user.id}::uuid AND action = 'signed_in')
             AND u.created_at > now() - interval '1 day'
           OR EXISTS (
             SELECT FROM account_log
             WHERE user_id = ${user.id}::uuid AND action = 'signed_in' AND address = ${address} AND agent = ${agent}
           ) AS "isKnown"
    FROM users u WHERE id = ${user.id}::uuid`
  if (found?.isKnown !== false) return
  const device = { device: deviceName(agent), address, at: new Date(ctx.clock.now()) }
  const mail = newDeviceMail(user.email, `${ctx.config.publicUrl}/account/profile`, device)
  await storeMail(ctx, tx, user, { label: 'sign-in from a new device', mail, address })
}

/** Ends what the old password of a user has opened, except one session, and records and mails the change. */
export async function recordNewPassword(
  ctx: Context,
  tx: PrismaTransaction,
  user: Recipient,
  { action, address, keeps }: { action: 'password_changed' | 'password_reset'; address: string; keeps?: string },
): Promise<void> {
  const userId = user.id
  await tx.session.deleteMany({ where: { userId, ...(keeps !== undefined && { id: { not: keeps } }) } })
  await tx.challenge.deleteMany({ where: { userId } }) // sign-ins with the old password
  await recordAccountEntry(tx, { userId, action, address })
  const at = new Date(ctx.clock.now())
  const mail = passwordChangedMail(user.email, `${ctx.config.publicUrl}/forgot-password`, { address, at })
  await storeMail(ctx, tx, user, { label: 'changed password', mail, address })
}

/** Records and mails a change of the second factors of a user. `address` is null for what an operator did. */
export async function recordFactorChange(
  ctx: Context,
  tx: PrismaTransaction,
  userId: string,
  { action, what, address }: { action: AccountAction; what: string; address: string | null },
): Promise<void> {
  await recordAccountEntry(tx, { userId, action, address: address ?? '', byOperator: address === null })
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId } })
  const at = new Date(ctx.clock.now())
  const mail = factorChangeMail(user.email, `${ctx.config.publicUrl}/account/profile`, { what, address, at })
  await storeMail(ctx, tx, user, { label: 'second factor', mail, address: address ?? '' })
}

type AccountMail = {
  label: string
  mail: Mail
  /** Where the request comes from that causes the mail. */
  address: string
  /** The link in the mail. Default: the mail is a notice without a secret. */
  link?: { kind: Exclude<MailKind, 'notice'>; usefulMs: number }
}

/**
 * Stores a mail to the user of an account. Any person may have registered an address that must be confirmed, so it only gets
 * links by which its owner proves it.
 * @returns Whether the mail is stored: an address gets only so many.
 */
export async function storeMail(
  ctx: Context,
  tx: PrismaTransaction,
  { id, email }: Recipient,
  { label, mail, address, link }: AccountMail,
): Promise<boolean> {
  if (!link && ctx.config.confirmsEmails) {
    const user = await tx.user.findUnique({ where: { id }, select: { emailConfirmedAt: true } })
    if (!user?.emailConfirmedAt) return false
  }
  if (!(await mayMail(ctx, link?.kind ?? 'notice', email, address))) return false
  await addMail(tx, label, mail, link ? { masterKeys: ctx.config.masterKeys, usefulMs: link.usefulMs } : {})
  return true
}

/** Throws `conflict` for an address that an operator has blocked. */
export async function refuseBlockedAddress({ pool }: Context, email: string): Promise<void> {
  const { isBlocked } = await readMailBlock(pool, email)
  if (isBlocked) throw new AppError('conflict', 'The operator of this installation sends no mail to this address.')
}

type Options = { masterKeys?: Context['config']['masterKeys']; usefulMs?: number; tenant?: MessageTenant }

/** Adds a mail to the outbox, encrypted if there are keys. Mails to users of an account go through `storeMail`. */
export async function addMail(tx: AnyTransaction, label: string, mail: Mail, options: Options = {}): Promise<void> {
  const message: Message = { type: 'mail', mail }
  const content = JSON.stringify(message)
  await addToOutbox(tx, { id: newUuid(), kind: 'mail', label, content, masterKeys: null, ...options })
}
