import { expect, it } from 'vitest'
import { parsePrices } from './prices.ts'

it('sells a tier at the first of its prices, and knows all of them', () => {
  const { tierOf, priceOf } = parsePrices('{"startup":"price_1","scaleup":["price_3","price_2"]}')
  expect(Object.fromEntries(priceOf)).toEqual({ startup: 'price_1', scaleup: 'price_3' })
  expect(Object.fromEntries(tierOf)).toEqual({ price_1: 'startup', price_3: 'scaleup', price_2: 'scaleup' })
})

it.each([
  ['{', /JSON object/],
  ['[]', /JSON object/],
  ['{}', /one tier/],
  ['{"free":"price_1"}', /free is not a tier for sale/],
  ['{"gold":"price_1"}', /gold is not a tier/],
  ['{"startup":7}', /JSON object/],
  ['{"startup":"price_1","scaleup":"price_1"}', /two tiers/],
])('refuses %s', (text, reason) => {
  expect(() => parsePrices(text)).toThrow(reason)
})
