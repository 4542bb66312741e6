import { confirmAlertsBody } from '@belfry/contract'
import { addToOutbox, confirmIntegration, type IntegrationTarget, type Transaction } from '@belfry/db'
import { type AlertChannel, newUuid } from '@belfry/domain'
import { alertConsentMail, type Message } from '@belfry/messages'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeAlertConsent, consumeReset } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'

const consentMs = 7 * 24 * 3_600_000

/** A target, with the token that its recipient must confirm it by. */
type TargetWithConsent = IntegrationTarget & { token: string | null }

/** Adds a token to an address that belongs to no member of the organization: its recipient must agree to get alerts. */
export async function withConsent(
  ctx: Context,
  { organizationId, workspaceId }: WorkspaceCaller,
  target: IntegrationTarget,
  channel: AlertChannel,
): Promise<TargetWithConsent> {
  if (channel !== 'email' || !ctx.config.confirmsEmails) return { ...target, token: null }
  const email = target.target.toLowerCase()
  const isMember = await ctx.prisma.membership.count({
    where: { organizationId, user: { email, emailConfirmedAt: { not: null } } },
  })
  if (isMember > 0) return { ...target, token: null }
  await consumeAlertConsent(ctx, workspaceId, email)
  const { token, tokenHash } = newOneTimeToken()
  return { ...target, token, confirmHash: tokenHash }
}

/** Stores the mail that asks a recipient, if there is one to ask. */
export async function storeConsentMail(
  ctx: Context,
  tx: Transaction,
  { target, token }: TargetWithConsent,
): Promise<void> {
  if (token === null) return
  const { masterKeys, publicUrl } = ctx.config
  const mail = alertConsentMail(target, `${publicUrl}/confirm-alerts#${token}`)
  const message: Message = { type: 'mail', mail }
  const stored = {
    id: newUuid(),
    kind: 'mail',
    label: 'alert consent',
    content: JSON.stringify(message),
    masterKeys,
  } as const
  await addToOutbox(tx, { ...stored, usefulMs: consentMs })
}

export const confirmAlerts = endpoint({
  right: 'public',
  summary: 'Agree to get alerts at an e-mail address, with the token of a link',
  answer: { status: 204 },
  refusals: ['rate_limited'],
  body: confirmAlertsBody,
  async handle(ctx, { body, request }) {
    await consumeReset(ctx, callerAddress(request))
    if (await confirmIntegration(ctx.pool, hashOneTimeToken(body.token))) return noContent()
    const message = 'token is unknown or used, or the integration has been changed or deleted.'
    throw invalid('body', [{ path: 'token', code: 'invalid_token', message }])
  },
})
