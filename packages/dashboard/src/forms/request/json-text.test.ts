import { describe, expect, it } from 'vitest'
import { checkJson } from './json-text.ts'

describe('JSON as it is typed', () => {
  it('is fine, or it is said where it is not', () => {
    expect(checkJson('{"a": [1, null, "b"]}')).toBeNull()
    expect(checkJson('{\n  "a": 1,\n  b: 2\n}')).toMatch(/line 3, column 3|double quotes/)
    expect(checkJson('{"a": 1')).toMatch(/not finished|line 1/)
  })
})
