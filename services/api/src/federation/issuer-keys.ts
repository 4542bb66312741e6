import { setTimeout as sleep } from 'node:timers/promises'
import { type CredentialOfWorkspace, orderIssuerKeys } from '@belfry/db/federation/issuer-keys'
import { addToOutbox, readOutboxOutcome } from '@belfry/db/outbox/outbox'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { newUuid } from '@belfry/domain/id'
import type { Message } from '@belfry/messages'
import type { JSONWebKeySet } from 'jose'
import type { Context } from '../context.ts'

/** The public keys of an issuer. */
export type IssuerKeys = { keys: JSONWebKeySet; readAt: Date }

const freshMs = 3_600_000
// An issuer that does not answer stops no job for a day. Later a key that the issuer has withdrawn must not count.
const maxAgeMs = 24 * freshMs
// However many tokens name unknown keys, an issuer is asked no more often.
const orderPauseMs = 30_000
const waitMs = 12_000
const usefulMs = 10_000
const pollMs = 100

/**
 * Returns the keys of a credential's issuer, at most an hour old if the issuer answers. Only dispatchers call addresses that users
 * chose, so a dispatcher reads the keys and stores them.
 * @param tooOld - Keys that lack the key of a token. Newer ones are returned, or the same if the issuer was just asked.
 * @throws AppError `unavailable` when there are no keys of the last day.
 */
export async function readIssuerKeys(
  ctx: Context,
  credential: CredentialOfWorkspace,
  tooOld?: IssuerKeys,
): Promise<IssuerKeys> {
  const known = await storedKeys(ctx, credential)
  const isNews = tooOld === undefined || (known !== null && known.readAt > tooOld.readAt)
  if (known && isNews && ageOf(ctx, known) < freshMs) return known
  const error = await orderOnce(ctx, credential)
  const read = await storedKeys(ctx, credential)
  if (read && ageOf(ctx, read) < maxAgeMs) return read
  const message = `The keys of the issuer could not be read. ${error ?? 'No dispatcher has read them in time.'}`
  throw new AppError('unavailable', message, { retryAfterMs: orderPauseMs })
}

function ageOf({ clock }: Context, { readAt }: IssuerKeys): number {
  return clock.now() - readAt.getTime()
}

async function storedKeys({ prisma }: Context, { id, workspaceId }: CredentialOfWorkspace): Promise<IssuerKeys | null> {
  const select = { keys: true, keysReadAt: true }
  const row = await prisma.federatedCredential.findFirst({ where: { id, workspaceId }, select })
  if (!row?.keys || !row.keysReadAt) return null
  return { keys: row.keys as unknown as JSONWebKeySet, readAt: row.keysReadAt } // as a dispatcher has checked it
}

// Any number of requests wait for one order, so a flood costs the database one poll in each process.
function orderOnce(ctx: Context, credential: CredentialOfWorkspace): Promise<string | null> {
  const order =
    ctx.keyOrders.get(credential.id) ?? orderKeys(ctx, credential).finally(() => ctx.keyOrders.delete(credential.id))
  ctx.keyOrders.set(credential.id, order)
  return order
}

// Returns why the keys could not be read; null when they were, or when no answer came in time.
async function orderKeys(ctx: Context, credential: CredentialOfWorkspace): Promise<string | null> {
  const messageId = newUuid()
  const lastMessageId = await inTransaction(ctx.pool, async tx => {
    const last = await orderIssuerKeys(tx, credential, messageId, orderPauseMs)
    if (last === messageId) {
      const { id: credentialId, workspaceId } = credential
      const content: Message = { type: 'issuer_keys', workspaceId, credentialId }
      const message = { kind: 'webhook', label: 'issuer keys', content: JSON.stringify(content) } as const
      await addToOutbox(tx, { id: messageId, ...message, masterKeys: null, usefulMs, tenant: { workspaceId } })
    }
    return last
  })
  if (lastMessageId === null) return null
  for (const giveUpAt = performance.now() + waitMs; performance.now() < giveUpAt; await sleep(pollMs)) {
    const outcome = await readOutboxOutcome(ctx.pool, lastMessageId)
    if (outcome) return outcome.error
  }
  return null
}
