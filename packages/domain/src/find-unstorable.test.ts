import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findUnstorable } from './find-unstorable.ts'

describe('findUnstorable', () => {
  it.each([
    '{}',
    '"\\u0001\\u0020\\uffff"',
    '"\\ud83d\\ude00"',
    '"\\uD83D\\uDE00\\uD83D\\uDE00"',
    '"😀"',
    '"\\\\u0000"',
    '"\\\\\\\\ud800"',
    '"\\\\ud800"',
    '"\\n\\t\\"\\/"',
    '"ud800 u0000"',
  ])('finds nothing in %s', text => {
    expect(findUnstorable(text)).toBeNull()
  })

  it.each([
    '"\\u0000"',
    '{"a\\u0000b":1}',
    '"\\\\\\u0000"',
    '"\\n\\u0000"',
    '["x",{"y":["\\u0000"]}]',
    '"\\ud83d\\ude00\\u0000"',
  ])('finds U+0000 in %s', text => {
    expect(findUnstorable(text)).toBe('the character U+0000')
  })

  it.each([
    '"\\ud800"',
    '"\\uDBFF"',
    '"\\udc00"',
    '"\\uDFFF x"',
    '"\\ude00\\ud83d"',
    '"\\ud83d\\ud83d\\ude00"',
    '"\\ud83dx\\ude00"',
    '"\\ud83d\\\\ude00"',
    '"\\ud83d\\n"',
    '{"\\ud800":1}',
    '"\\\\\\ud800"',
    '"\ud83d\\ude00"',
    '"\\ud83d\ude00"',
    '"\ud800"',
    '["\\ud800","\\udc00"]',
  ])('finds half of a pair in %j', text => {
    expect(findUnstorable(text)).toBe('half of a surrogate pair')
  })

  it('agrees with the parsed value about any text of escapes', () => {
    const piece = fc.constantFrom(
      '\\u0000',
      '\\ud83d',
      '\\ude00',
      '\\\\',
      'u0000',
      'ud800',
      '\\n',
      '😀',
      'a',
      '\\u0041',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
        const text = `"${pieces.join('')}"`
        const value: string = JSON.parse(text)
        expect(findUnstorable(text) !== null).toBe(/[\0\p{Cs}]/u.test(value))
      }),
      { numRuns: propertyRuns(3_000) },
    )
  })
})
