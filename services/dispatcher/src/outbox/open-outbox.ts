import type { Logger } from '@belfry/runtime'
import type { Metrics } from '../metrics.ts'
import { mailsAtATime, openMailTransport } from './mail-transport.ts'
import { createOutboxSender } from './outbox-sender.ts'
import { sendMessage, type WaysOut } from './send-message.ts'

export type Outbox = {
  /** Looks whether there is something to send. */
  wake(): void
  /** Takes nothing more, and waits for what is being sent. */
  finish(patienceMs: number): Promise<void>
}

const webhooksAtATime = 8

/** Opens what sends messages to people. Without a way for mails, `mail` null, they wait where they are. */
export function openOutbox(
  ways: Omit<WaysOut, 'mail'> & { log: Logger; metrics: Metrics },
  mail: { url: string; from: string } | null,
): Outbox {
  const { pool, log, metrics } = ways
  const transport = mail && openMailTransport(mail.url, mail.from, log)
  if (!transport) log.warn({ advice: 'Set SMTP_URL; until then mails wait.' }, 'mail.not_configured')
  const send = sendMessage.bind(null, { ...ways, mail: transport })
  const webhooks = createOutboxSender({ pool, log, metrics, kind: 'webhook', send, parallel: webhooksAtATime })
  const mails = transport && createOutboxSender({ pool, log, metrics, kind: 'mail', send, parallel: mailsAtATime })
  const senders = mails ? [webhooks, mails] : [webhooks]
  return {
    wake() {
      for (const sender of senders) sender.wake()
    },
    async finish(patienceMs) {
      await Promise.all(senders.map(sender => sender.finish(patienceMs)))
      transport?.close()
    },
  }
}
