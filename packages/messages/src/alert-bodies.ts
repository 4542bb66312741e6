import { type Alert, alertLines, alertTitle } from './alert.ts'
import { type Mail, type Unsubscribe, writeMail } from './mail.ts'

// Both services refuse longer texts.
const maxTextLength = 2_000

/** Returns the body for a Slack webhook. Names that users chose cannot mention people or become links. */
export function slackBody(alert: Alert): string {
  const escaped = plainText(alert).replace(/[&<>]/g, character => slackEntities[character] ?? '')
  return JSON.stringify({ text: escaped.slice(0, maxTextLength) })
}

/** Returns the body for a Discord webhook. Names that users chose cannot mention people, or hide the address of a link. */
export function discordBody(alert: Alert): string {
  const escaped = plainText(alert).replace(/[\\[\]*_~`|<>#]/g, '\\$&')
  return JSON.stringify({ content: escaped.slice(0, maxTextLength), allowed_mentions: { parse: [] } })
}

/** Returns the body for a webhook, in the format of Standard Webhooks. */
export function webhookBody(alert: Alert): string {
  const { event, at, workspace, count, items, quota } = alert
  const data = { message: alertTitle(alert), workspace, count, items, ...(quota ? { quota } : {}) }
  return JSON.stringify({ type: event, timestamp: at, data })
}

/**
 * Returns an alert as a mail.
 * @param unsubscribe - Null when the dispatcher does not know the address of Belfry.
 */
export function alertMail(to: string, alert: Alert, unsubscribe: Unsubscribe | null): Mail {
  const title = alertTitle(alert)
  return writeMail(to, {
    subject: `Belfry: ${title.replace(/\.$/, '')}`,
    paragraphs: [title, ...alertLines(alert)],
    footer: `You received this mail because an integration of the workspace "${alert.workspace.name}" has your address.`,
    unsubscribe,
  })
}

const slackEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function plainText(alert: Alert): string {
  return [alertTitle(alert), ...alertLines(alert).map(line => `• ${line}`)].join('\n')
}
