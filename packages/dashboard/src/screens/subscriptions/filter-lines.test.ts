import type { Condition } from '@belfry/domain/payload-filter'
import { expect, it } from 'vitest'
import { readFilterLines, writeFilterLines } from './filter-lines.ts'

it('parses conditions and writes them back', () => {
  const filter: Condition[] = [
    { path: 'order.total', op: 'gte', value: 99.5 },
    { path: 'ship to.country', op: 'in', value: ['DE', 'AT', null] },
    { path: 'coupon', op: 'exists', value: false },
    { path: 'note', op: 'prefix', value: 'a in "b" eq 1' },
  ]
  expect(readFilterLines(`${writeFilterLines(filter)}\n\n`)).toEqual({ filter })
  expect(readFilterLines(' \n')).toEqual({ filter: [] })
})

it.each([
  ['order.total', /Line 1 is not a condition/],
  ['a eq 1\nb like "x"', /Line 2 is not a condition/],
  ['country eq DE', /Line 1: write text in double quotes/],
])('%j is rejected', (text, error) => {
  expect(readFilterLines(text)).toEqual({ error: expect.stringMatching(error) })
})
