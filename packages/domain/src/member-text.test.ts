import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementTexts, memberText } from './member-text.ts'

describe('memberText', () => {
  it.each([
    ['{"payload":12345678901234567890}', '12345678901234567890'],
    ['{"payload":1.10}', '1.10'],
    ['{"payload":1e400}', '1e400'],
    ['{"payload":-0}', '-0'],
    ['{ "payload" :\n\t{ "10": 1, "2": 2, "a": 1, "a": 2 }\r\n}', '{ "10": 1, "2": 2, "a": 1, "a": 2 }'],
    ['{"payload":"\\ud83d\\ude00 😀 \\/ \\"}"}', '"\\ud83d\\ude00 😀 \\/ \\"}"'],
    ['{"payload":null}', 'null'],
    ['{"payload":true,"b":1}', 'true'],
    ['{"payload":[ ]}', '[ ]'],
    ['{"payload":""}', '""'],
    ['{"payload":"\\\\"}', '"\\\\"'],
    ['{"a":{"payload":1},"payload":2}', '2'],
    ['{"a":["payload",{"payload":1}],"b":"payload","payload":3}', '3'],
    ['{"payload":1,"payload":[2]}', '[2]'],
    ['{"payload":1,"pay\\u006coad":2}', '2'],
    ['{"pay\\u006coad":2}', '2'],
    ['{"payload":{"x":"]}"},"z":[{"payload":9}]}', '{"x":"]}"}'],
  ])('cuts the payload out of %s', (text, expected) => {
    expect(memberText(text, ['payload'])).toBe(expected)
  })

  it.each([
    ['{}', ['payload']],
    ['{"b":1}', ['payload']],
    ['{"b":{"payload":1}}', ['payload']],
    ['{"b":"payload"}', ['payload']],
    ['{"Payload":1}', ['payload']],
    ['{"payload2":1}', ['payload']],
    ['{"pay\\\\u006coad":1}', ['payload']],
    ['[1]', ['0']],
    ['{"0":1}', [0]],
    ['[1,2]', [2]],
    ['[]', [0]],
    ['[1]', [-1]],
    ['"payload"', ['payload']],
    ['1', [0]],
    ['{"a":1}', ['a', 'b']],
    ['{"a":{"b":1},"a":2}', ['a', 'b']],
    ['{"a":1}', ['__proto__']],
  ])('finds nothing in %s at %j', (text, path) => {
    expect(memberText(text, path)).toBeUndefined()
  })

  it('follows a path through objects and arrays', () => {
    const text = '{"tasks": [ {"payload":1}, [2], {"payload": [ 3 ] , "x":4} ]}'
    expect(memberText(text, ['tasks', 2, 'payload'])).toBe('[ 3 ]')
    expect(memberText(text, ['tasks', 1, 0])).toBe('2')
    expect(memberText(text, ['tasks', 0])).toBe('{"payload":1}')
    expect(memberText(' [1] ', [])).toBe('[1]')
  })

  it('distinguishes names that differ only by an escape', () => {
    const text = JSON.stringify({ 'a\nb': 1, 'a\\nb': 2, 'a"b': 3, __proto__: 4 })
    expect(memberText(text, ['a\nb'])).toBe('1')
    expect(memberText(text, ['a\\nb'])).toBe('2')
    expect(memberText(text, ['a"b'])).toBe('3')
  })

  it('returns the text of the value that JSON.parse returns', () => {
    const names = fc.constantFrom(
      'payload',
      'a',
      '',
      '"',
      '\\',
      '\\u0061',
      '😀',
      '__proto__',
      'constructor',
      '{',
      '\ud800',
    )
    const object = fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true })
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        for (const key of Object.keys(value)) {
          expect(JSON.parse(memberText(text, [key]) ?? 'undefined')).toEqual(JSON.parse(text)[key])
        }
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  it('takes the last of several members of one name', () => {
    const pairs = fc.array(fc.tuple(fc.constantFrom('a', 'b', '\\u0061'), fc.jsonValue()), { minLength: 1 })
    fc.assert(
      fc.property(pairs, pairs => {
        const text = `{${pairs.map(([key, value]) => `"${key}" : ${JSON.stringify(value)}`).join(' , ')}}`
        for (const [key, value] of Object.entries(JSON.parse(text))) {
          expect(JSON.parse(memberText(text, [key]) ?? 'undefined')).toEqual(value)
        }
      }),
    )
  })

  it('takes time in proportion to any text', () => {
    const size = 256 * 1024
    const texts = [
      `{"a":"${'\\\\'.repeat(size / 2)}","payload":1}`,
      `{"a":"${'\\"'.repeat(size / 2)}","payload":1}`,
      `{"a":[${'"",'.repeat(size / 3)}""],"payload":1}`,
      `{${'"a":1,'.repeat(size / 6)}"payload":1}`,
      `{${'"\\u0061":1,'.repeat(size / 11)}"payload":1}`,
      `{${'"payload":0,'.repeat(size / 12)}"payload":1}`,
      `{"a":${'['.repeat(30)}${' '.repeat(size)}${']'.repeat(30)},"payload":1}`,
    ]
    const cutAll = () => {
      for (const text of texts) expect(memberText(text, ['payload'])).toBe('1')
    }
    expect(cpuTimeOf(cutAll)).toBeLessThan(1_000)
  })
})

describe('elementTexts', () => {
  it.each([
    ['{"tasks":[]}', []],
    ['{"tasks":[ ]}', []],
    ['{"tasks": [1.10 ,\n"a,]", {"x":[1,2]},[ ] , null]}', ['1.10', '"a,]"', '{"x":[1,2]}', '[ ]', 'null']],
    ['{"tasks":[1],"tasks":[2,3]}', ['2', '3']],
  ])('cuts every element out of %s', (text, expected) => {
    expect(elementTexts(text, ['tasks'])).toEqual(expected)
  })

  it.each(['{}', '{"tasks":{}}', '{"tasks":"[]"}', '{"tasks":null}'])('finds nothing in %s', text => {
    expect(elementTexts(text, ['tasks'])).toBeUndefined()
  })

  it('cuts the same texts as looking each of them up', () => {
    const array = fc.array(fc.oneof(fc.jsonValue(), fc.string()), { maxLength: 8 })
    fc.assert(
      fc.property(array, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify({ a: [0], tasks: value, b: 1 }, null, space)
        const slowly = value.map((_element, i) => memberText(text, ['tasks', i]))
        expect(elementTexts(text, ['tasks'])).toEqual(slowly)
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  it('takes time in proportion to the text, however many elements there are', () => {
    const text = `{"tasks":[${'{"a":1},'.repeat(400_000)}1]}`
    const cutAll = () => expect(elementTexts(text, ['tasks'])).toHaveLength(400_001)
    expect(cpuTimeOf(cutAll)).toBeLessThan(3_000)
  })
})
