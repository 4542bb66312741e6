import type { KeyObject } from 'node:crypto'
import type { Pool, TakenOutboxMessage } from '@belfry/db'
import type { Message } from '@belfry/messages'
import type { MasterKeys } from '@belfry/vault'
import type { Sender } from '../egress/send.ts'
import type { WorkspaceCache } from '../secrets/workspace-cache.ts'
import type { MailTransport } from './mail-transport.ts'
import { sendAlert } from './send-alert.ts'
import { UndeliveredMessage } from './undelivered-message.ts'

/** What messages leave by. */
export type WaysOut = {
  pool: Pool
  masterKeys: MasterKeys
  sender: Sender
  signingKeys: Pick<WorkspaceCache<KeyObject[]>, 'get'>
  /** Null when there is none: mails wait. */
  mail: MailTransport | null
}

/** Opens a message and sends it where it belongs. Throws UndeliveredMessage when it did not arrive. */
export async function sendMessage(ways: WaysOut, taken: TakenOutboxMessage): Promise<void> {
  const message = JSON.parse(taken.open(ways.masterKeys)) as Message // written by one of our services
  if (message.type === 'alert') return sendAlert(ways, taken, message)
  if (!ways.mail) throw new UndeliveredMessage('There is no mail server.', { isFinal: false })
  await ways.mail.send(message.mail, taken.id)
}
