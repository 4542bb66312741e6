import { addToOutbox } from '@belfry/db/outbox/outbox'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { newUuid } from '@belfry/domain/id'
import { accountDeletedMail, factorChangeMail, type Mail, newDeviceMail, passwordChangedMail } from '@belfry/messages'
import type { Request } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { agentOf, deviceName, knownDevice } from './device.ts'

type Owner = { id: string; email: string }
type Statements = Pick<PrismaTransaction, '$executeRawUnsafe' | '$queryRaw'>

/**
 * Stores a mail about a sign-in, unless the browser is known by its cookie, or the same program signed in from the same address
 * within 90 days. The first sign-in of a new account gets none. Call it before the sign-in is logged.
 */
export async function mailNewDevice(ctx: Context, tx: Statements, user: Owner, request: Request): Promise<void> {
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
  await storeMail(tx, 'sign-in from a new device', newDeviceMail(user.email, profileOf(ctx), device))
}

/** Stores the mail about a changed or reset password. */
export async function mailPasswordChange(ctx: Context, tx: Statements, user: Owner, address: string): Promise<void> {
  const mail = passwordChangedMail(user.email, `${ctx.config.publicUrl}/forgot-password`, {
    address,
    at: new Date(ctx.clock.now()),
  })
  await storeMail(tx, 'changed password', mail)
}

/** Stores the mail about the deletion of an account. */
export async function mailAccountDeletion(ctx: Context, tx: Statements, user: Owner): Promise<void> {
  const at = new Date(ctx.clock.now())
  await storeMail(tx, 'deleted account', accountDeletedMail(user.email, at))
}

/** Stores the mail about a change of the second factors. `address` is null for what an operator did. */
export async function mailFactorChange(
  ctx: Context,
  tx: Statements,
  user: Owner,
  what: string,
  address: string | null,
): Promise<void> {
  const at = new Date(ctx.clock.now())
  await storeMail(tx, 'second factor', factorChangeMail(user.email, profileOf(ctx), { what, address, at }))
}

function profileOf({ config }: Context): string {
  return `${config.publicUrl}/account/profile`
}

async function storeMail(tx: Statements, label: string, mail: Mail): Promise<void> {
  const content = JSON.stringify({ type: 'mail', mail })
  await addToOutbox(tx, { id: newUuid(), kind: 'mail', label, content, masterKeys: null })
}
