import type { Integration } from '@belfry/contract/integration'
import { operations } from '@belfry/contract/operations'
import {
  changeIntegration,
  findIntegration,
  type IntegrationTarget,
  insertIntegration,
  maxIntegrations,
  type Integration as Row,
  listIntegrations as readIntegrations,
  deleteIntegration as removeIntegration,
} from '@belfry/db/integrations/integrations'
import { confirmIntegration, hashAddress, readMailBlock, unsubscribeAddress } from '@belfry/db/outbox/mail-blocks'
import { addToOutbox, awaitOutboxOutcome } from '@belfry/db/outbox/outbox'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { inWorkspace } from '@belfry/db/secrets/in-workspace'
import type { AlertChannel } from '@belfry/domain/alerts'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import { alertConsentMail, type Message, unsubscribeAt } from '@belfry/messages'
import { readUnsubscribeToken, unsubscribeToken } from '@belfry/vault'
import { addMail, refuseBlockedAddress } from '../account/account-mail.ts'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { hashOneTimeToken, newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeMail, consumeOne, consumeRequest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseUsedKey } from '../http/errors.ts'
import { given, isEmpty } from '../http/given.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { created } from '../http/response.ts'

export const createIntegration = endpoint(operations.createIntegration, {
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, body }) {
    const { workspaceId } = caller
    const { name, channel } = body
    const own = { name, channel, events: [...new Set(body.events)] }
    const target = await targetIn(ctx, caller, body)
    if (!target) throw new Error('The schema accepted an integration without a target.')
    const store = async (tx: Transaction) => {
      const added = { key: body.key ?? null, ...own, ...target }
      const row = await insertIntegration(tx, ctx.config.masterKeys, workspaceId, added)
      if (!row) throw new AppError('conflict', `A workspace may have at most ${maxIntegrations} integrations.`)
      await storeConsentMail(ctx, tx, workspaceId, target)
      await audit(tx, caller, 'integration.created', toId('int', row.id), { ...own, target: row.shownTarget })
      return row
    }
    const row = await refuseUsedKey(body.key, () => inWorkspace(ctx.pool, workspaceId, store))
    if (!row) throw notFound()
    return created(`/api/v1/workspaces/${toId('ws', workspaceId)}/integrations`, presentIntegration(row))
  },
})

/** Returns all integrations as one page: a workspace has few of them. */
export const listIntegrations = endpoint(operations.listIntegrations, async (ctx, { caller }) => {
  const rows = await readIntegrations(ctx.pool, caller.workspaceId)
  return { data: rows.map(presentIntegration), next_cursor: null }
})

export const getIntegration = endpoint(operations.getIntegration, readIntegration)

export const updateIntegration = endpoint(operations.updateIntegration, {
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, input) {
    const { caller, body } = input
    const { workspaceId } = caller
    const id = input.params.int
    const target = await targetIn(ctx, caller, body)
    const events = body.events && [...new Set(body.events)]
    const change = given({ key: body.key, name: body.name, events, target: target ?? undefined })
    if (isEmpty(change)) return readIntegration(ctx, input)
    const store = async (tx: Transaction) => {
      const before = await findIntegration(tx, workspaceId, id)
      if (!before) return null
      requireChannelOf(before.channel, body)
      const row = await changeIntegration(tx, ctx.config.masterKeys, workspaceId, id, change)
      if (target) await storeConsentMail(ctx, tx, workspaceId, target)
      const details = given({ name: body.name, events, target: target?.shownTarget })
      await audit(tx, caller, 'integration.changed', toId('int', id), details)
      return row
    }
    const row = await refuseUsedKey(body.key, () => inWorkspace(ctx.pool, workspaceId, store))
    return row && presentIntegration(row)
  },
})

function requireChannelOf(channel: AlertChannel, body: { url?: unknown; email?: unknown }): void {
  const wrong = channel === 'email' ? 'url' : 'email'
  if (body[wrong] === undefined) return
  const message = `An integration of the channel ${channel} has no ${wrong}.`
  throw invalidField(wrong, 'wrong_channel', message)
}

export const deleteIntegration = endpoint(operations.deleteIntegration, async (ctx, { caller, params }) => {
  const { workspaceId } = caller
  const row = await inWorkspace(ctx.pool, workspaceId, async tx => {
    const row = await removeIntegration(tx, workspaceId, params.int)
    const details = row && { name: row.name, channel: row.channel, target: row.shownTarget }
    if (details) await audit(tx, caller, 'integration.deleted', toId('int', params.int), details)
    return row
  })
  if (!row) throw notFound()
})

const timeoutMs = 10_000
// One attempt: a second one would end after the response.
const usefulMs = 5_000

// The dispatcher sends it like every alert: only dispatchers call addresses that users chose.
export const testIntegration = endpoint(operations.testIntegration, async (ctx, { caller, params }) => {
  const { workspaceId } = caller
  const { int: integrationId } = params
  const integration = await findIntegration(ctx.pool, workspaceId, integrationId)
  if (!integration) throw notFound()
  if (!integration.isConfirmed) throw new AppError('conflict', 'The recipient has not confirmed the address yet.')
  await consumeOne(ctx, 'integration tests of', workspaceId)
  const { name } = await ctx.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })
  const at = new Date(ctx.clock.now()).toISOString()
  const about = { workspace: { id: toId('ws', workspaceId), name }, count: 0, items: [] }
  const message: Message = { type: 'alert', workspaceId, integrationId, alert: { event: 'test', at, ...about } }
  const id = newUuid()
  const kind = integration.channel === 'email' ? 'mail' : 'webhook'
  const stored = { id, kind, label: 'integration test', content: JSON.stringify(message), masterKeys: null } as const
  await inTransaction(ctx.pool, tx => addToOutbox(tx, { ...stored, usefulMs, tenant: { workspaceId } }))
  const { sent, error } = (await awaitOutboxOutcome(ctx.pool, id, timeoutMs)) ?? late
  return { delivered: sent, error }
})

const late = { sent: false, error: 'It did not arrive within ten seconds.' }

type OfIntegration = { caller: Allowed<'integration.read' | 'integration.write'>; params: { int: string } }

async function readIntegration({ pool }: Context, { caller, params }: OfIntegration): Promise<Integration | null> {
  const row = await findIntegration(pool, caller.workspaceId, params.int)
  return row && presentIntegration(row)
}

function presentIntegration(row: Row): Integration {
  return {
    id: toId('int', row.id),
    workspace_id: toId('ws', row.workspaceId),
    key: row.key,
    name: row.name,
    channel: row.channel,
    events: row.events,
    target: row.shownTarget,
    confirmed: row.isConfirmed,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

const consentMs = 7 * 24 * 3_600_000

/** A target, with the token that its recipient must confirm it by. */
type TargetWithConsent = IntegrationTarget & { token: string | null }

/**
 * Returns the target in a body, if there is one, and the part of it that is shown: of a URL the host, since the rest may be a
 * secret. An address has a token when its recipient must agree to get alerts: it does not belong to a member of the
 * organization, or its owner has unsubscribed.
 * @throws AppError when an operator has blocked the address.
 */
async function targetIn(
  ctx: Context,
  caller: Allowed<'integration.write'>,
  to: { url?: string | undefined; email?: string | undefined },
): Promise<TargetWithConsent | null> {
  if (to.url !== undefined) return { target: to.url, shownTarget: new URL(to.url).host, token: null }
  if (to.email === undefined) return null
  const target = { target: to.email, shownTarget: to.email }
  const email = to.email.toLowerCase()
  await refuseBlockedAddress(ctx, email)
  const { isUnsubscribed } = await readMailBlock(ctx.pool, email)
  if (!isUnsubscribed && !(await mustConfirm(ctx, caller.organizationId, email))) return { ...target, token: null }
  await consumeOne(ctx, 'alert consents of', caller.workspaceId)
  await consumeMail(ctx, 'mail', email, caller.address)
  if (isUnsubscribed) await consumeOne(ctx, 'alert consent of unsubscribed', email)
  const { token, tokenHash } = newOneTimeToken()
  return { ...target, token, confirmHash: tokenHash }
}

async function mustConfirm(ctx: Context, organizationId: string, email: string): Promise<boolean> {
  if (!ctx.config.confirmsEmails) return false
  const user = { email, emailConfirmedAt: { not: null } }
  return (await ctx.prisma.membership.count({ where: { organizationId, user } })) === 0
}

/** Stores the mail that asks a recipient, if there is one to ask. */
async function storeConsentMail(
  ctx: Context,
  tx: Transaction,
  workspaceId: string,
  { target, token }: TargetWithConsent,
): Promise<void> {
  if (token === null) return
  const { masterKeys, publicUrl } = ctx.config
  const unsubscribe = unsubscribeAt(publicUrl, unsubscribeToken(masterKeys, hashAddress(target)))
  const mail = alertConsentMail(target, `${publicUrl}/confirm-alerts#${token}`, unsubscribe)
  await addMail(tx, 'alert consent', mail, { masterKeys, usefulMs: consentMs, tenant: { workspaceId } })
}

export const confirmAlerts = endpoint(operations.confirmAlerts, async (ctx, { body, request }) => {
  await consumeRequest(ctx, 'reset', callerAddress(request))
  if (await confirmIntegration(ctx.pool, hashOneTimeToken(body.token))) return
  const message = 'The link is unknown or was used, or the integration has been changed or deleted.'
  throw invalidField('token', 'invalid_token', message)
})

// Mail programs call it with the form of RFC 8058, without credentials. The token is enough. Opening the link does not
// unsubscribe.
export const unsubscribe = endpoint(operations.unsubscribe, async (ctx, { query }) => {
  const addressHash = readUnsubscribeToken(ctx.config.masterKeys, query.token)
  if (addressHash === null) {
    const message = 'The link is not from a mail of this installation.'
    throw invalidField('token', 'invalid_token', message, 'query')
  }
  await unsubscribeAddress(ctx.pool, addressHash)
})
