import { type Mail, writeMail } from './mail.ts'

/** The facts in every mail to an owner. */
export type OwnerFacts = {
  organization: string
  /** The URL of the page with usage and tier, or null if the public URL is unknown. */
  url: string | null
}

/** A null limit means unlimited. */
type Share = { used: number; limit: number | null }

export type UsageFacts = OwnerFacts & {
  /** Any day of the month. */
  month: string
  tier: string
  executions: Share
  /** Tasks that became dead letters. */
  failed: number
  storageBytes: Share
}

/** Returns the usage report of a past month. */
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

/** Returns a mail about a new tier. */
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
