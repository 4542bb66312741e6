import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Condition, matchesFilter } from './payload-filter.ts'

const payload = JSON.parse(`{
  "order": { "total": 12.50, "id": "eu-7", "paid": true, "coupon": null, "lines": [{ "sku": "a" }, { "sku": "b" }] },
  "__proto__": { "own": 1 }
}`)
const matches = (path: string, op: Condition['op'], value: unknown) =>
  matchesFilter([{ path, op, value } as Condition], payload)

it.each<[string, Condition['op'], unknown, boolean]>([
  ['order.total', 'eq', 12.5, true],
  ['order.total', 'eq', '12.5', false],
  ['order.total', 'ne', '12.5', true],
  ['order.total', 'gt', 12.5, false],
  ['order.total', 'gte', 12.5, true],
  ['order.total', 'lt', 13, true],
  ['order.total', 'lte', 12, false],
  ['order.id', 'prefix', 'eu-', true],
  ['order.id', 'prefix', 'EU-', false],
  ['order.id', 'gt', 1, false],
  ['order.total', 'prefix', '12', false],
  ['order.paid', 'in', [1, 'true'], false],
  ['order.paid', 'in', ['yes', true], true],
  ['order.coupon', 'eq', null, true],
  ['order.coupon', 'exists', true, true],
  ['order.coupon', 'exists', false, false],
  ['order.coupon', 'lte', 0, false],
  ['order.lines.1.sku', 'eq', 'b', true],
  ['order.lines.2.sku', 'exists', false, true],
  ['order.lines.length', 'exists', true, false],
  ['order.id.0', 'exists', true, false],
  ['order.id.length', 'exists', true, false],
  ['order', 'exists', true, true],
  ['order', 'eq', '[object Object]', false],
  ['__proto__.own', 'eq', 1, true],
  ['constructor', 'exists', true, false],
  ['order.toString', 'exists', true, false],
  ['missing', 'ne', 1, true],
  ['missing', 'exists', false, true],
  ['missing', 'exists', true, false],
  ['missing', 'eq', null, false],
  ['missing', 'in', [null], false],
  ['missing', 'prefix', '', false],
  ['missing', 'gte', 0, false],
  ['missing.deeper', 'lt', 0, false],
])('%s %s %j is %s', (path, op, value, expected) => expect(matches(path, op, value)).toBe(expected))

it('holds when all conditions do, and without a condition', () => {
  const paid: Condition = { path: 'order.paid', op: 'eq', value: true }
  expect(matchesFilter([], payload)).toBe(true)
  expect(matchesFilter([paid, { path: 'order.id', op: 'prefix', value: 'eu' }], payload)).toBe(true)
  expect(matchesFilter([paid, { path: 'order.id', op: 'prefix', value: 'us' }], payload)).toBe(false)
})

it('has no member in a payload that is no object', () => {
  for (const text of ['null', '"text"', '7', 'true', '[]'])
    expect(matchesFilter([{ path: 'length', op: 'exists', value: true }], JSON.parse(text))).toBe(false)
  expect(matchesFilter([{ path: 'a', op: 'ne', value: 1 }], undefined)).toBe(true)
})

it('compares whole numbers exactly, however many digits a payload has', () => {
  const near = fc.bigInt({ min: 9_007_199_254_740_900n, max: 9_007_199_254_741_200n })
  const whole = fc.tuple(fc.oneof(near, fc.bigInt({ max: 10n ** 400n, min: 0n })), fc.boolean())
  fc.assert(
    fc.property(whole, fc.maxSafeInteger(), ([size, isNegative], value) => {
      const member = isNegative ? -size : size
      const holds = (op: Condition['op']) =>
        matchesFilter([{ path: 'n', op, value } as Condition], JSON.parse(`{"n":${member}}`))
      const than = BigInt(value)
      expect([holds('eq'), holds('ne'), holds('gt'), holds('gte'), holds('lt'), holds('lte')]).toEqual([
        member === than,
        member !== than,
        member > than,
        member >= than,
        member < than,
        member <= than,
      ])
    }),
  )
})
