import type { KeyObject } from 'node:crypto'
import { openAuditStream } from '@belfry/db/audit-streams/audit-streams'
import { openIntegration } from '@belfry/db/integrations/integrations'
import { hashAddress, readMailBlock } from '@belfry/db/outbox/mail-blocks'
import type { TakenOutboxMessage } from '@belfry/db/outbox/outbox'
import type { Pool } from '@belfry/db/postgres/pool'
import { consumeAttempt } from '@belfry/db/throttle'
import { toId } from '@belfry/domain/id'
import {
  alertMail,
  discordBody,
  type Message,
  slackBody,
  type Unsubscribe,
  unsubscribeAt,
  webhookBody,
} from '@belfry/messages'
import { type MasterKeys, unsubscribeToken } from '@belfry/vault'
import type { Identity } from '../attempt/build-request.ts'
import type { SendOutcome } from '../egress/outcome.ts'
import type { Sender } from '../egress/send.ts'
import { sign, toSigningKey } from '../secrets/sign.ts'
import type { WorkspaceCache } from '../secrets/workspace-cache.ts'
import type { MailTransport } from './mail-transport.ts'
import { UndeliveredMessage } from './outbox-sender.ts'
import { readIssuerKeys } from './read-issuer-keys.ts'

export type Transports = {
  pool: Pool
  masterKeys: MasterKeys
  sender: Sender
  identity: Identity
  signingKeys: Pick<WorkspaceCache<KeyObject[]>, 'get'>
  /** Null without a mail server: mails wait. */
  mail: MailTransport | null
  /** The address of Belfry in links. Null: alerts have no link by which their recipients end them. */
  publicUrl: string | null
}

/**
 * Decrypts a message and sends it, or carries out its order.
 * @throws UndeliveredMessage when its recipient did not get it.
 */
export async function sendMessage(transports: Transports, taken: TakenOutboxMessage): Promise<void> {
  const message = JSON.parse(taken.open(transports.masterKeys)) as Message // written by a service of Belfry
  if (message.type === 'alert') return sendAlert(transports, taken, message)
  if (message.type === 'audit_log') return sendAuditLog(transports, taken, message)
  if (message.type === 'issuer_keys') {
    return readIssuerKeys(transports, { id: message.credentialId, workspaceId: message.workspaceId })
  }
  if (!transports.mail) throw new UndeliveredMessage('There is no mail server.', { isFinal: false })
  await transports.mail.send(message.mail, taken.id)
}

type AlertMessage = Extract<Message, { type: 'alert' }>

const timeoutMs = 7_000

// With the settings that the integration has now.
async function sendAlert(transports: Transports, taken: TakenOutboxMessage, message: AlertMessage) {
  const { workspaceId, integrationId, alert } = message
  const integration = await openIntegration(transports.pool, transports.masterKeys, workspaceId, integrationId)
  if (!integration)
    throw new UndeliveredMessage('The integration has been deleted, or its address is not confirmed.', {
      isFinal: true,
    })
  const { channel, target } = integration
  switch (channel) {
    case 'email':
      if (!transports.mail) throw new UndeliveredMessage('There is no mail server.', { isFinal: false })
      await refuseBlocked(transports.pool, target)
      await limitAlertMails(transports.pool, target)
      return transports.mail.send(alertMail(target, alert, unsubscribeOf(transports, target)), taken.id)
    case 'slack':
      return post(transports, target, slackBody(alert))
    case 'discord':
      return post(transports, target, discordBody(alert))
    case 'webhook': {
      const keys = (await transports.signingKeys.get(workspaceId)) ?? []
      const body = webhookBody(alert)
      return post(transports, target, body, signature(keys, taken, body))
    }
  }
}

// To the URL that the organization has set now. Failures are never final, so each entry arrives once the receiver or
// its URL is right.
async function sendAuditLog(
  transports: Transports,
  taken: TakenOutboxMessage,
  { organizationId, lines }: Extract<Message, { type: 'audit_log' }>,
): Promise<void> {
  const stream = await openAuditStream(transports.pool, transports.masterKeys, organizationId)
  // A stream that was started later does not get these entries.
  if (stream?.messageId !== taken.id)
    throw new UndeliveredMessage('The audit stream has been removed.', { isFinal: true })
  const signed = signature(stream.secrets.map(toSigningKey), taken, lines)
  await post(transports, stream.url, lines, { 'Content-Type': 'application/x-ndjson', ...signed }, false)
}

// As Standard Webhooks requires, the id is the same each time that the message is sent.
function signature(keys: readonly KeyObject[], taken: TakenOutboxMessage, body: string): Record<string, string> {
  const id = toId('msg', taken.id)
  const timestamp = String(Math.floor(taken.takenAt.getTime() / 1000))
  const signatures = sign(keys, id, timestamp, body)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures }
}

/**
 * Sends a message to a receiver.
 * @param mayEnd - Whether a failure may be final.
 * @throws UndeliveredMessage when the receiver did not get it.
 */
async function post(
  transports: Transports,
  url: string,
  body: string,
  more: Record<string, string> = {},
  mayEnd = true,
): Promise<void> {
  const headers = {
    'User-Agent': transports.identity.userAgent,
    Accept: '*/*',
    'Content-Type': 'application/json',
    ...more,
  }
  const failure = failureOf(await transports.sender.send({ url, method: 'POST', headers, body, timeoutMs }))
  if (failure) throw new UndeliveredMessage(failure.text, { isFinal: mayEnd && failure.isFinal })
}

function failureOf(outcome: SendOutcome): { text: string; isFinal: boolean } | null {
  switch (outcome.kind) {
    case 'response':
      if (outcome.status >= 200 && outcome.status < 300) return null
      return { text: `The receiver answered ${outcome.status}.`, isFinal: outcome.status === 410 }
    case 'failure':
      return { text: outcome.message, isFinal: outcome.code === 'blocked_address' }
    case 'unsent':
      return { text: 'The message could not be sent.', isFinal: false }
  }
}

async function refuseBlocked(pool: Pool, address: string): Promise<void> {
  const { isBlocked, isUnsubscribed } = await readMailBlock(pool, address)
  if (isBlocked) throw new UndeliveredMessage('The operator of Belfry has blocked the address.', { isFinal: true })
  if (isUnsubscribed) throw new UndeliveredMessage('The recipient has unsubscribed.', { isFinal: true })
}

function unsubscribeOf({ masterKeys, publicUrl }: Transports, address: string): Unsubscribe | null {
  return publicUrl === null ? null : unsubscribeAt(publicUrl, unsubscribeToken(masterKeys, hashAddress(address)))
}

// Integrations pause between alerts, so only many workspaces together reach these limits.
const toAddress = { burst: 20, everyMs: 180_000 }
const ofInstallation = { burst: 1_000, everyMs: 1_000 }

/**
 * Counts an alert to an email address, for the address and for the installation: workspaces are free, so any number of them
 * could send to the same person.
 * @throws UndeliveredMessage beyond a limit: the mail waits.
 */
async function limitAlertMails(pool: Pool, address: string): Promise<void> {
  const waits =
    (await consumeAttempt(pool, `alerts to ${hashAddress(address).toString('base64url')}`, toAddress)) ||
    (await consumeAttempt(pool, 'alert mails', ofInstallation))
  if (waits > 0) throw new UndeliveredMessage('Too many alerts are mailed. This one waits.', { isFinal: false })
}
