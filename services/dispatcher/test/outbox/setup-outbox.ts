import { randomBytes } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { addToOutbox } from '@belfry/db/outbox/outbox'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { parseCidrs } from '@belfry/domain/address'
import { newUuid } from '@belfry/domain/id'
import { type Message, writeMail } from '@belfry/messages'
import { createLogger, openMeter } from '@belfry/runtime'
import { borrowTestDatabase } from '@belfry/test-support'
import { parseMasterKeys } from '@belfry/vault'
import { onTestFinished } from 'vitest'
import { createIdentity } from '../../src/attempt/build-request.ts'
import { createOwnListeners } from '../../src/egress/own-listeners.ts'
import { createSender } from '../../src/egress/send.ts'
import { openMetrics } from '../../src/metrics.ts'
import { openOutbox } from '../../src/outbox/outbox.ts'
import { toSigningKey } from '../../src/secrets/sign.ts'

export const signingSecret = `whsec_${randomBytes(24).toString('base64')}`
export const from = 'Belfry <belfry@example.com>'

/**
 * A database with an outbox, and dispatchers' senders for it.
 * @param certificate - Of a receiver that the senders trust. Default: none.
 */
export async function setup(certificate: string | null = null) {
  const database = await borrowTestDatabase()
  const pool = openPool(database.url, { max: 8, onError: () => {} }) // the end of a test ends its connections
  const masterKeys = parseMasterKeys(`k1:${randomBytes(32).toString('base64')}`)
  const outboxes: Array<ReturnType<typeof openOutbox>> = []
  const sender = createSender({
    allowedPrivateTargets: parseCidrs('127.0.0.0/8'),
    blockedTargets: [],
    listeners: createOwnListeners([], async () => []),
    ...(certificate && { secureContext: createSecureContext({ ca: certificate }) }),
  })
  onTestFinished(async () => {
    await Promise.all(outboxes.map(outbox => outbox.finish(5_000)))
    await sender.close()
    await pool.end()
    database.giveBack()
  })

  const open = (mailUrl: string | null) => {
    const signingKeys = { get: async () => [toSigningKey(signingSecret)] }
    const metrics = openMetrics(openMeter('dispatcher'))
    const log = createLogger('dispatcher', 'silent')
    const identity = createIdentity(null, masterKeys)
    const ways = { pool, metrics, masterKeys, sender, identity, signingKeys, log, publicUrl: 'http://belfry.test' }
    const outbox = openOutbox(ways, mailUrl === null ? null : { url: mailUrl, from })
    outboxes.push(outbox)
    return outbox
  }
  const store = async (kind: 'mail' | 'webhook', message: Message, usefulMs?: number) => {
    const id = newUuid()
    const content = JSON.stringify(message)
    await addToOutbox(pool as never, {
      id,
      kind,
      label: 'test',
      content,
      masterKeys,
      ...(usefulMs ? { usefulMs } : {}),
    })
    return id
  }
  return {
    pool,
    masterKeys,
    open,
    store,
    storeMail: (to: string, usefulMs?: number) => store('mail', { type: 'mail', mail: aMail(to) }, usefulMs),
    row: (id: string) => outboxRow(pool, id),
    /** Makes what waits for its next attempt due. */
    async makeDue() {
      await pool.query(`UPDATE outbox SET due_at = now() - interval '1 ms' WHERE finished_at IS NULL`)
    },
  }
}

export function aMail(to: string) {
  return writeMail(to, {
    subject: 'Ünïcode\tsubject',
    paragraphs: ['A paragraph.'],
    action: { label: 'Join', url: `http://belfry.test/invitations/${'t'.repeat(60)}?to=${to}` },
    footer: 'Small print.',
  })
}

async function outboxRow(pool: Pool, id: string) {
  const { rows } = await pool.query(
    `SELECT attempts, sent, last_error AS error, content, master_key_id AS "masterKeyId",
            finished_at IS NOT NULL AS "isFinished"
     FROM outbox WHERE id = $1`,
    [id],
  )
  return rows[0]
}
