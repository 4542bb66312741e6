import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { describe, expect, it } from 'vitest'
import { inspectJson } from './inspect-json.ts'

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
