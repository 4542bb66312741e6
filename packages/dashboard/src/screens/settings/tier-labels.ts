import type { OrganizationSubscription } from '@belfry/contract/tier'

export type TierName = OrganizationSubscription['tier']

export const tierLabels: Record<TierName, string> = {
  free: 'Free',
  startup: 'Startup',
  scaleup: 'Scaleup',
  unicorn: 'Unicorn',
  unlimited: 'Unlimited',
}

/** The tiers, lowest first. */
export const tierRanks = Object.keys(tierLabels) as TierName[]
