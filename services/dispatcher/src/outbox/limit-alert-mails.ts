import { createHash } from 'node:crypto'
import { consumeAttempt, type Pool } from '@belfry/db'
import { UndeliveredMessage } from './outbox-sender.ts'

// Integrations pause between alerts, so only many workspaces together reach these limits.
const toAddress = { burst: 20, everyMs: 180_000 }
const ofInstallation = { burst: 1_000, everyMs: 1_000 }

/**
 * Counts an alert to an e-mail address, for the address and for the installation: workspaces are free, so any number of them
 * could send to the same person.
 * @throws UndeliveredMessage beyond a limit: the mail waits.
 */
export async function limitAlertMails(pool: Pool, address: string): Promise<void> {
  const recipient = createHash('sha256').update(address.toLowerCase()).digest('base64url')
  const waits =
    (await consumeAttempt(pool, `alerts to ${recipient}`, toAddress)) ||
    (await consumeAttempt(pool, 'alert mails', ofInstallation))
  if (waits > 0) throw new UndeliveredMessage('Too many alerts are mailed. This one waits.', { isFinal: false })
}
