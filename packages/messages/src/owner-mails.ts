import { type Mail, writeMail } from './mail.ts'

/** What every mail to an owner names. */
export type OwnerFacts = {
  organization: string
  /** The page on which an owner sees usage and tier; null when nobody knows its address. */
  url: string | null
}

export type UsageFacts = OwnerFacts & {
  /** Any day of the month. */
  month: string
  tier: string
  executions: { used: number; limit: number }
  /** Tasks that ended dead. */
  failed: number
  storageBytes: { used: number; limit: number }
}

/** What an organization used in a month that is over. */
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
    ...action(facts),
    footer: 'You got this mail because you own this organization. It is sent once a month.',
  })
}

export type TierFacts = OwnerFacts & { from: string; to: string; why?: 'unpaid' | 'ended' | undefined }

/** An organization has another tier. */
export function tierMail(to: string, facts: TierFacts): Mail {
  const reasons = {
    unpaid: 'The last payment failed, and the grace period is over.',
    ended: 'The subscription has ended.',
  }
  return writeMail(to, {
    subject: `${facts.organization}: the tier is ${facts.to} now`,
    paragraphs: [
      `The organization "${facts.organization}" changed from the tier ${facts.from} to ${facts.to}.`,
      ...(facts.why ? [reasons[facts.why]] : []),
      'The new limits apply from now on. Nothing that exists is deleted because of a lower limit.',
    ],
    ...action(facts),
    footer: 'You got this mail because you own this organization.',
  })
}

/** A payment failed; the tier stays until `graceUntil`. */
export function paymentFailedMail(to: string, facts: OwnerFacts & { tier: string; graceUntil: Date }): Mail {
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(facts.graceUntil)
  return writeMail(to, {
    subject: `${facts.organization}: the payment failed`,
    paragraphs: [
      `The payment for the organization "${facts.organization}" failed.`,
      `The tier ${facts.tier} stays until ${day}. Pay, or change the payment method, before then to keep it.`,
    ],
    ...action(facts, 'Open billing settings'),
    footer: 'You got this mail because you own this organization.',
  })
}

function action({ url }: OwnerFacts, label = 'See usage and tier') {
  return url === null ? {} : { action: { label, url } }
}

function share({ used, limit }: { used: number; limit: number }, format: (amount: number) => string): string {
  return `${format(used)} of ${format(limit)}`
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
