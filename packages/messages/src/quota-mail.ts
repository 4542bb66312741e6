import { type Mail, writeMail } from './mail.ts'

export type QuotaCrossing = {
  organization: string
  quota: 'executions' | 'storage'
  /** 80 or 100. */
  percent: number
  /** The page on which an owner can change the tier; null when nobody knows its address. */
  url: string | null
}

const names = { executions: 'monthly executions', storage: 'storage' }
const consequences = {
  executions: 'Tasks that fall due until the month ends (UTC) are cancelled, and events are refused.',
  storage: 'New tasks, cron jobs and events are refused, and tasks that fall due are cancelled.',
}

/** Tells an owner that an organization comes near a limit of its tier, or has reached it. */
export function quotaMail(to: string, { organization, quota, percent, url }: QuotaCrossing): Mail {
  const name = names[quota]
  return writeMail(to, {
    subject: `${organization}: ${percent} % of the ${name} used`,
    paragraphs: [
      `The organization "${organization}" has used ${percent} % of the ${name} that its tier allows.`,
      percent >= 100 ? consequences[quota] : `At 100 %: ${consequences[quota]}`,
      'A higher tier takes effect at once, also for what is waiting.',
    ],
    ...(url === null ? {} : { action: { label: 'See usage and tier', url } }),
    footer: 'You got this mail because you own this organization. It is sent once a month for each limit.',
  })
}
