import { endExpiredMessages, pruneOutbox } from '@belfry/db/outbox/outbox'
import type { Pool } from '@belfry/db/postgres/pool'
import type { Logger } from '@belfry/runtime'
import type { Metrics } from '../metrics.ts'
import { maxMails, openMailTransport } from './mail-transport.ts'
import { createOutboxSender } from './outbox-sender.ts'
import { sendMessage, type Transports } from './send-message.ts'

// A webhook that hangs costs a connection.
const maxWebhooks = 32

/** Opens the sender of all messages to people. Without a mail server, `mail` null, mails wait in the database. */
export function openOutbox(
  transports: Omit<Transports, 'mail'> & { log: Logger; metrics: Metrics },
  mail: { url: string; from: string } | null,
) {
  const { pool, log, metrics } = transports
  const transport = mail && openMailTransport(mail.url, mail.from, log)
  if (!transport) log.warn({ advice: 'Set SMTP_URL; until then mails wait.' }, 'mail.not_configured')
  const send = sendMessage.bind(null, { ...transports, mail: transport })
  const webhooks = createOutboxSender({ pool, log, metrics, kind: 'webhook', send, parallel: maxWebhooks })
  const mails = transport && createOutboxSender({ pool, log, metrics, kind: 'mail', send, parallel: maxMails })
  const senders = mails ? [webhooks, mails] : [webhooks]
  return {
    wake(): void {
      for (const sender of senders) sender.wake()
    },
    async whenIdle(): Promise<void> {
      await Promise.all(senders.map(sender => sender.whenIdle()))
    },
    async finish(patienceMs: number): Promise<void> {
      await Promise.all(senders.map(sender => sender.finish(patienceMs)))
      transport?.close()
    },
  }
}

const keptMs = 7 * 24 * 3_600_000

/** Ends the messages that have expired, and deletes those that ended a week ago. */
export async function tidyOutbox({ pool, log }: { pool: Pool; log: Logger }): Promise<void> {
  const expired = await endExpiredMessages(pool)
  if (expired > 0) log.warn({ messages: expired }, 'messages.expired')
  await pruneOutbox(pool, keptMs)
}
