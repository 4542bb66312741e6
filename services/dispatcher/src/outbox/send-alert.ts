import { openIntegration, type TakenOutboxMessage } from '@belfry/db'
import { toId } from '@belfry/domain'
import { type Alert, alertMail, discordBody, type Message, slackBody, webhookBody } from '@belfry/messages'
import { userAgent } from '../build-request.ts'
import type { SendOutcome } from '../egress/outcome.ts'
import { sign } from '../secrets/sign.ts'
import type { WaysOut } from './send-message.ts'
import { UndeliveredMessage } from './undelivered-message.ts'

type AlertMessage = Extract<Message, { type: 'alert' }>

const timeoutMs = 7_000

/** Tells an integration of an alert, as it is set up at this moment. Throws UndeliveredMessage when it did not arrive. */
export async function sendAlert(ways: WaysOut, { id }: TakenOutboxMessage, message: AlertMessage) {
  const { workspaceId, integrationId, alert } = message
  const integration = await openIntegration(ways.pool, ways.masterKeys, workspaceId, integrationId)
  if (!integration) throw new UndeliveredMessage('The integration has been deleted.', { isFinal: true })
  const { channel, target } = integration
  switch (channel) {
    case 'email':
      if (!ways.mail) throw new UndeliveredMessage('There is no mail server.', { isFinal: false })
      return ways.mail.send(alertMail(target, alert), id)
    case 'slack':
      return post(ways, target, slackBody(alert))
    case 'discord':
      return post(ways, target, discordBody(alert))
    case 'webhook':
      return post(ways, target, webhookBody(alert), await signature(ways, workspaceId, toId('msg', id), alert))
  }
}

// As Standard Webhooks says: the id is the same whenever the message has to be sent again.
async function signature(ways: WaysOut, workspaceId: string, id: string, alert: Alert) {
  const keys = (await ways.signingKeys.get(workspaceId)) ?? []
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signatures = sign(keys, id, timestamp, webhookBody(alert))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures }
}

async function post(ways: WaysOut, url: string, body: string, more: Record<string, string> = {}): Promise<void> {
  const headers = { 'User-Agent': userAgent, Accept: '*/*', 'Content-Type': 'application/json', ...more }
  const outcome = await ways.sender.send({ url, method: 'POST', headers, body, timeoutMs })
  const failure = failureOf(outcome)
  if (failure) throw new UndeliveredMessage(failure.text, { isFinal: failure.isFinal })
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
