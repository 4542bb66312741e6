import { describe, expect, it } from 'vitest'
import { indentJson } from './indent-json.ts'

describe('JSON that was received', () => {
  it.each([
    '{"a":[1,{"b":null}],"c":"x, {y}: \\"z\\""}',
    '[]',
    '{"a":{},"b":[],"c":[[]]}',
    '"text"',
    '-1.5',
    '[true,false,null]',
  ])('is indented as everybody indents it: %s', text => {
    expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2))
    expect(indentJson(indentJson(text) ?? '')).toBe(indentJson(text))
  })

  it('keeps what parsing would change', () => {
    expect(indentJson('{"id":12345678901234567890,"a":1.10,"a":"\\u0041"}')).toBe(
      '{\n  "id": 12345678901234567890,\n  "a": 1.10,\n  "a": "\\u0041"\n}',
    )
  })

  it.each(['', 'text', '{"a":1', '<p>', '{a:1}', '['.repeat(5000) + ']'.repeat(5000)])('is not made of %j', text => {
    expect(indentJson(text)).toBeNull()
  })
})
