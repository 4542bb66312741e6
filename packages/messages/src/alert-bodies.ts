import { type Alert, alertLines, alertTitle } from './alert.ts'
import { type Mail, writeMail } from './mail.ts'

// Both services refuse longer texts.
const longestText = 2_000

/** The body of a message to a Slack webhook. What users have named things cannot mention anybody or become a link. */
export function slackBody(alert: Alert): string {
  const escaped = plainText(alert).replace(/[&<>]/g, character => slackEntities[character] ?? '')
  return JSON.stringify({ text: escaped.slice(0, longestText) })
}

/** The body of a message to a Discord webhook, which mentions nobody whatever it says. */
export function discordBody(alert: Alert): string {
  return JSON.stringify({ content: plainText(alert).slice(0, longestText), allowed_mentions: { parse: [] } })
}

/** The body of a message to a webhook, in the form of Standard Webhooks. */
export function webhookBody(alert: Alert): string {
  const { event, at, workspace, count, items, quota } = alert
  const data = { message: alertTitle(alert), workspace, count, items, ...(quota ? { quota } : {}) }
  return JSON.stringify({ type: event, timestamp: at, data })
}

/** An alert as a mail. */
export function alertMail(to: string, alert: Alert): Mail {
  const title = alertTitle(alert)
  return writeMail(to, {
    subject: `Belfry: ${title.replace(/\.$/, '')}`,
    paragraphs: [title, ...alertLines(alert)],
    footer: `You got this mail because an integration of the workspace "${alert.workspace.name}" names your address.`,
  })
}

const slackEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function plainText(alert: Alert): string {
  return [alertTitle(alert), ...alertLines(alert).map(line => `• ${line}`)].join('\n')
}
