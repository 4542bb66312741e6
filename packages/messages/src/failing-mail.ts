import { type Mail, writeMail } from './mail.ts'

export type FailingFacts = {
  organization: string
  workspaceName: string
  kind: 'cron' | 'sub'
  name: string
  url: string
  failingSince: Date
  /** After how many days it is switched off. */
  days: number
  isOff: boolean
  /** The page of the cron job or the subscription, or null if the public URL is unknown. */
  page: string | null
}

/** Returns a mail about a cron job or a subscription that has only failed for days. */
export function failingMail(to: string, facts: FailingFacts): Mail {
  const { organization, workspaceName, kind, name, url, failingSince, days, isOff, page } = facts
  const what = kind === 'cron' ? `cron job "${name}"` : `subscription to "${name}"`
  const missed =
    kind === 'cron'
      ? 'No more calls start until you resume it.'
      : 'Events that it misses from now on become dead letters. Switch it on and replay them.'
  return writeMail(to, {
    subject: `${organization}: a ${what} ${isOff ? 'was switched off' : 'has been failing for days'}`,
    paragraphs: [
      `Every call of the ${what} to ${url} has failed since ${failingSince.toISOString()}. It belongs to the workspace "${workspaceName}".`,
      isOff
        ? `It was switched off, because it has failed for ${days} days. ${missed}`
        : `It is switched off if it still fails ${days} days after that time.`,
    ],
    action: { label: kind === 'cron' ? 'View cron job' : 'View subscriptions', url: page },
    footer: 'You received this mail because you own this organization.',
  })
}
