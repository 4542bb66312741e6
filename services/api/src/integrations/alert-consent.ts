import { operations } from '@belfry/contract/operations'
import type { IntegrationTarget } from '@belfry/db/integrations/integrations'
import { confirmIntegration, hashAddress, readMailBlock, unsubscribeAddress } from '@belfry/db/outbox/mail-blocks'
import { addToOutbox } from '@belfry/db/outbox/outbox'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import type { AlertChannel } from '@belfry/domain/alerts'
import { newUuid } from '@belfry/domain/id'
import { alertConsentMail, type Message, unsubscribeAt } from '@belfry/messages'
import { readUnsubscribeToken, unsubscribeToken } from '@belfry/vault'
import { refuseBlockedAddress } from '../account/refuse-blocked-address.ts'
import type { Allowed } from '../auth/authorize.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeAlertConsent, consumeReset } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { invalid } from '../http/refusals.ts'

const consentMs = 7 * 24 * 3_600_000

/** A target, with the token that its recipient must confirm it by. */
type TargetWithConsent = IntegrationTarget & { token: string | null }

/**
 * Adds a token to an address whose recipient must agree to get alerts: it belongs to no member of the organization, or its
 * owner has unsubscribed.
 * @throws AppError when an operator has blocked the address.
 */
export async function withConsent(
  ctx: Context,
  caller: Allowed<'integration.write'>,
  target: IntegrationTarget,
  channel: AlertChannel,
): Promise<TargetWithConsent> {
  if (channel !== 'email') return { ...target, token: null }
  const email = target.target.toLowerCase()
  await refuseBlockedAddress(ctx, email)
  const { isUnsubscribed } = await readMailBlock(ctx.pool, email)
  if (!isUnsubscribed && !(await mustConfirm(ctx, caller.organizationId, email))) return { ...target, token: null }
  await consumeAlertConsent(ctx, caller, email, isUnsubscribed)
  const { token, tokenHash } = newOneTimeToken()
  return { ...target, token, confirmHash: tokenHash }
}

async function mustConfirm(ctx: Context, organizationId: string, email: string): Promise<boolean> {
  if (!ctx.config.confirmsEmails) return false
  const user = { email, emailConfirmedAt: { not: null } }
  return (await ctx.prisma.membership.count({ where: { organizationId, user } })) === 0
}

/** Stores the mail that asks a recipient, if there is one to ask. */
export async function storeConsentMail(
  ctx: Context,
  tx: Transaction,
  workspaceId: string,
  { target, token }: TargetWithConsent,
): Promise<void> {
  if (token === null) return
  const { masterKeys, publicUrl } = ctx.config
  const unsubscribe = unsubscribeAt(publicUrl, unsubscribeToken(masterKeys, hashAddress(target)))
  const mail = alertConsentMail(target, `${publicUrl}/confirm-alerts#${token}`, unsubscribe)
  const message: Message = { type: 'mail', mail }
  const stored = {
    id: newUuid(),
    kind: 'mail',
    label: 'alert consent',
    content: JSON.stringify(message),
    masterKeys,
  } as const
  await addToOutbox(tx, { ...stored, usefulMs: consentMs, tenant: { workspaceId } })
}

export const confirmAlerts = endpoint(operations.confirmAlerts, async (ctx, { body, request }) => {
  await consumeReset(ctx, callerAddress(request))
  if (await confirmIntegration(ctx.pool, hashOneTimeToken(body.token))) return
  const message = 'The link is unknown or was used, or the integration has been changed or deleted.'
  throw invalid('body', [{ path: 'token', code: 'invalid_token', message }])
})

// Mail programs call it with the form of RFC 8058 and no credentials. The token is all that it needs, so a link that is only
// opened changes nothing.
export const unsubscribe = endpoint(operations.unsubscribe, async (ctx, { query }) => {
  const addressHash = readUnsubscribeToken(ctx.config.masterKeys, query.token)
  if (addressHash === null) {
    const message = 'The link is not from a mail of this installation.'
    throw invalid('query', [{ path: 'token', code: 'invalid_token', message }])
  }
  await unsubscribeAddress(ctx.pool, addressHash)
})
