import { parseJson } from '@belfry/domain/json-text'
import { type TierName, tierNames } from '@belfry/domain/tiers'

export type Prices = { tierOf: ReadonlyMap<string, TierName>; priceOf: ReadonlyMap<TierName, string> }

const soldTiers = tierNames.filter(name => name !== 'free' && name !== 'unlimited')

/**
 * Parses the operator's prices, such as `{"startup":"price_1","scaleup":["price_3","price_2"]}`. If a tier has several
 * prices, the first one is sold; existing subscriptions may have the others. The tiers `free` and `unlimited` have
 * no price.
 * @throws Error with the reason.
 */
export function parsePrices(text: string): Prices {
  const form = 'must be a JSON object such as {"startup":"price_1","scaleup":["price_3","price_2"]}'
  const tierOf = new Map<string, TierName>()
  const priceOf = new Map<TierName, string>()
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(form)
  for (const [name, given] of Object.entries(value)) {
    const tier = soldTiers.find(one => one === name)
    if (!tier) throw new Error(`${name} is not a tier for sale; the tiers are ${soldTiers.join(', ')}`)
    for (const price of Array.isArray(given) ? given : [given]) {
      if (typeof price !== 'string' || !/^\w{1,255}$/.test(price)) throw new Error(form)
      if (tierOf.has(price)) throw new Error(`${price} is the price of two tiers`)
      tierOf.set(price, tier)
      if (!priceOf.has(tier)) priceOf.set(tier, price)
    }
  }
  if (priceOf.size === 0) throw new Error('must have the price of at least one tier')
  return { tierOf, priceOf }
}
