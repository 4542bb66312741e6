import { describe, expect, it } from 'vitest'
import { checkJson, formatJson, hasLongNumber } from './json-text.ts'

describe('JSON as it is typed', () => {
  it('is fine, or it is said where it is not', () => {
    expect(checkJson('{"a": [1, null, "b"]}')).toBeNull()
    expect(checkJson('{\n  "a": 1,\n  b: 2\n}')).toMatch(/line 3, column 3|double quotes/)
    expect(checkJson('{"a": 1')).toMatch(/not finished|line 1/)
  })

  it('is indented when it is JSON', () => {
    expect(formatJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}')
    expect(formatJson('{"a"')).toBe('{"a"')
  })

  it('long numbers are found, but not in texts', () => {
    expect(hasLongNumber('{"id": 12345678901234567890}')).toBe(true)
    expect(hasLongNumber('{"id": "12345678901234567890", "n": -12.5e3}')).toBe(false)
  })
})
