import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { elementTexts, findUnstorable, inspectJson, memberText } from './json-text.ts'

const limits = { maxDepth: 32, maxKeys: 10_000 }

function nested(depth: number, open = '[', close = ']'): string {
  return open.repeat(depth) + close.repeat(depth)
}

function withKeys(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i])))
}

describe('inspectJson', () => {
  it.each(['null', ' 1 ', '"a"', '{}', '[[],{"a":[1,{"b":"]}:\\"["}]}]', '{"a":1,"a":2}'])('parses %s', text => {
    expect(inspectJson(text, limits)).toEqual({ ok: true, value: JSON.parse(text) })
  })

  it('keeps a member called __proto__ a member', () => {
    const result = inspectJson('{"__proto__":{"admin":true}}', limits)
    expect(result).toMatchObject({ ok: true })
    expect(Object.keys(result.ok ? (result.value as object) : {})).toEqual(['__proto__'])
  })

  it.each([
    '',
    ' ',
    '{',
    '}',
    '[1,]',
    "{'a':1}",
    '{"a":1',
    '"',
    '"\\"',
    '"a\0b"',
    'NaN',
    '01',
    '1 2',
    '\ufeff{}',
    '{a:1}',
    '[[[[}',
  ])('refuses %j', text => {
    expect(inspectJson(text, limits)).toMatchObject({ ok: false, reason: expect.stringContaining('not valid JSON') })
  })

  it('names the position of the mistake, and never quotes the text', () => {
    const result = inspectJson('{\n  "password": "geheim"\n  "b": 2\n}', limits)
    expect(result).toEqual({ ok: false, reason: 'The text is not valid JSON: look at line 3, column 3.' })
  })

  it('allows 32 levels and refuses 33', () => {
    expect(inspectJson(nested(32), limits).ok).toBe(true)
    expect(inspectJson(nested(33), limits)).toEqual({ ok: false, reason: 'The JSON is nested deeper than 32 levels.' })
    expect(inspectJson(nested(33, '{"a":', '}').replace(':}', ':1}'), limits)).toMatchObject({
      reason: 'The JSON is nested deeper than 32 levels.',
    })
  })

  it('does not count brackets within strings, nor levels beside each other', () => {
    expect(inspectJson(JSON.stringify([nested(40), '\\', '"[', '\\"{{']), limits).ok).toBe(true)
    expect(inspectJson(`[${'[],'.repeat(100)}[]]`, limits).ok).toBe(true)
  })

  it('allows as many members as the limit and refuses one more', () => {
    expect(inspectJson(withKeys(10_000), limits).ok).toBe(true)
    expect(inspectJson(withKeys(10_001), limits)).toMatchObject({ ok: false, reason: expect.stringContaining('10000') })
    expect(inspectJson(JSON.stringify({ a: ':'.repeat(20_000) }), limits).ok).toBe(true)
  })

  it('answers the deepest and the largest body at once', () => {
    const size = 256 * 1024
    const inspectAll = () => {
      for (const text of ['['.repeat(size), '{"a":'.repeat(size / 5), '"'.repeat(size), `"${'\\'.repeat(size)}`]) {
        expect(inspectJson(text, limits).ok).toBe(false)
      }
    }
    expect(cpuTimeOf(inspectAll)).toBeLessThan(500)
  })
})

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
    ['"payload"', ['payload']],
    ['1', ['payload']],
    ['{"a":1}', ['a', 'b']],
    ['{"a":{"b":1},"a":2}', ['a', 'b']],
    ['{"a":1}', ['__proto__']],
  ])('finds nothing in %s at %j', (text, path) => {
    expect(memberText(text, path)).toBeUndefined()
  })

  it('follows a path through objects', () => {
    const text = '{"a": {"payload":1}, "b" : {"c": {"payload": [ 3 ] , "x":4} }}'
    expect(memberText(text, ['b', 'c', 'payload'])).toBe('[ 3 ]')
    expect(memberText(text, ['a'])).toBe('{"payload":1}')
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

  it('cuts the texts of the elements that JSON.parse returns', () => {
    const array = fc.array(fc.oneof(fc.jsonValue(), fc.string()), { maxLength: 8 })
    fc.assert(
      fc.property(array, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify({ a: [0], tasks: value, b: 1 }, null, space)
        const texts = elementTexts(text, ['tasks']) ?? []
        expect(texts.map(one => JSON.parse(one))).toEqual(JSON.parse(text).tasks)
        expect(texts.map(one => one.trim())).toEqual(texts)
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
