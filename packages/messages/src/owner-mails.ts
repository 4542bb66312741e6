import { type Mail, writeMail } from './mail.ts'

type OwnerFacts = {
  organization: string
  /** The URL of the page with usage and tier, or null if the public URL is unknown. */
  url: string | null
}

/** A null limit means unlimited. */
type Share = { used: number; limit: number | null }

type UsageFacts = OwnerFacts & {
  /** Any day of the month. */
  month: string
  tier: string
  executions: Share
  /** Tasks that became dead letters. */
  failed: number
  storageBytes: Share
}

export function usageMail(to: string, facts: UsageFacts): Mail {
  const { organization, month, tier, executions, failed, storageBytes } = facts
  const name = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(month),
  )
  return writeMail(to, {
    subject: `${organization}: usage in ${name}`,
    paragraphs: [
      `The organization "${organization}" used ${share(executions, formatCount)} executions in ${name}.`,
      `${formatCount(failed)} tasks failed for good.`,
      `It stores ${share(storageBytes, formatBytes)}. Its tier is ${tier}.`,
    ],
    action: { label: 'View usage and tier', url: facts.url },
    footer: 'You received this mail because you own this organization. It is sent once a month.',
  })
}

export type TierFacts = OwnerFacts & { from: string; to: string; why?: 'unpaid' | 'ended' | undefined }

export function tierMail(to: string, facts: TierFacts): Mail {
  const reasons = {
    unpaid: 'The last payment failed, and the grace period is over.',
    ended: 'The subscription has ended.',
  }
  return writeMail(to, {
    subject: `${facts.organization}: the tier is now ${facts.to}`,
    paragraphs: [
      `The organization "${facts.organization}" changed from the tier ${facts.from} to ${facts.to}.`,
      ...(facts.why ? [reasons[facts.why]] : []),
      'The new limits apply from now on. Nothing that exists is deleted because of a lower limit.',
    ],
    action: { label: 'View usage and tier', url: facts.url },
    footer: 'You received this mail because you own this organization.',
  })
}

/** Returns a mail about a failed payment; the tier stays until `graceUntil`. */
export function paymentFailedMail(to: string, facts: OwnerFacts & { tier: string; graceUntil: Date }): Mail {
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(facts.graceUntil)
  return writeMail(to, {
    subject: `${facts.organization}: the payment failed`,
    paragraphs: [
      `The payment for the organization "${facts.organization}" failed.`,
      `The tier ${facts.tier} stays until ${day}. To keep it, pay or change the payment method before then.`,
    ],
    action: { label: 'Open billing settings', url: facts.url },
    footer: 'You received this mail because you own this organization.',
  })
}

export type QuotaCrossing = OwnerFacts & {
  quota: 'executions' | 'storage'
  /** 80 or 100. */
  percent: number
}

const names = { executions: 'monthly executions', storage: 'storage' }
const consequences = {
  executions: 'Tasks that become due before the end of the month (UTC) are cancelled, and events are refused.',
  storage: 'New tasks, cron jobs and events are refused, and tasks that become due are cancelled.',
}

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

type FailingFacts = {
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

function share({ used, limit }: Share, format: (amount: number) => string): string {
  return limit === null ? format(used) : `${format(used)} of ${format(limit)}`
}

function formatCount(count: number): string {
  return new Intl.NumberFormat('en').format(count)
}

function formatBytes(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const options = { style: 'unit', unit: units[step], maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat('en', options as Intl.NumberFormatOptions).format(bytes / 1000 ** step)
}
