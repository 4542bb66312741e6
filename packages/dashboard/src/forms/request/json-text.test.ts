import { describe, expect, it } from 'vitest'
import { checkJson, indentJson } from './json-text.ts'

describe('indenting JSON', () => {
  it.each([
    '{"a":[1,{"b":null}],"c":"x, {y}: \\"z\\""}',
    '[]',
    '{"a":{},"b":[],"c":[[]]}',
    '"text"',
    '-1.5',
    '[true,false,null]',
  ])('gives the same text as JSON.stringify: %s', text => {
    expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2))
    expect(indentJson(indentJson(text) ?? '')).toBe(indentJson(text))
  })

  it('keeps numbers, names and escapes unchanged', () => {
    expect(indentJson('{"id":12345678901234567890,"a":1.10,"a":"\\u0041"}')).toBe(
      '{\n  "id": 12345678901234567890,\n  "a": 1.10,\n  "a": "\\u0041"\n}',
    )
  })

  it.each(['', 'text', '{"a":1', '<p>', '{a:1}', '['.repeat(5000) + ']'.repeat(5000)])('returns null for %j', text => {
    expect(indentJson(text)).toBeNull()
  })
})

describe('checking JSON', () => {
  it('reports where it is invalid', () => {
    expect(checkJson('{"a": [1, null, "b"]}')).toBeNull()
    expect(checkJson('{\n  "a": 1,\n  b: 2\n}')).toMatch(/line 3, column 3|double quotes/)
    expect(checkJson('{"a": 1')).toMatch(/Incomplete|line 1/)
  })
})
