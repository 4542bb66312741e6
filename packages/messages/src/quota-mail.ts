import { type Mail, writeMail } from './mail.ts'

export type QuotaCrossing = {
  organization: string
  quota: 'executions' | 'storage'
  /** 80 or 100. */
  percent: number
  /** The URL of the page to change the tier, or null if the public URL is unknown. */
  url: string | null
}

const names = { executions: 'monthly executions', storage: 'storage' }
const consequences = {
  executions: 'Tasks that become due before the end of the month (UTC) are cancelled, and events are refused.',
  storage: 'New tasks, cron jobs and events are refused, and tasks that become due are cancelled.',
}

/** Returns a mail about a limit that an organization approaches or has reached. */
export function quotaMail(to: string, { organization, quota, percent, url }: QuotaCrossing): Mail {
  const name = names[quota]
  return writeMail(to, {
    subject: `${organization}: ${percent} % of the ${name} used`,
    paragraphs: [
      `The organization "${organization}" has used ${percent} % of the ${name} that its tier allows.`,
      percent >= 100 ? consequences[quota] : `At 100 %: ${consequences[quota]}`,
      'A higher tier takes effect at once, including for waiting tasks.',
    ],
    action: { label: 'View usage and tier', url },
    footer: 'You received this mail because you own this organization. It is sent once a month for each limit.',
  })
}
