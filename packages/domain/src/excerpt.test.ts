import { expect, it } from 'vitest'
import { excerptOf } from './excerpt.ts'

it.each([
  ['{"error":\n  "no slots"}', '{"error": "no slots"}'],
  ['<html><head><style>p { color: red }</style><title>503</title></head><body>Try\r\nlater</body>', '503 Try later'],
  [' \n<br/>', null],
  ['', null],
  ['a < b', 'a < b'],
  ['é'.repeat(120), 'é'.repeat(120)],
  ['🔥'.repeat(121), `${'🔥'.repeat(120)}…`],
])('the excerpt of %j is %j', (text, excerpt) => {
  expect(excerptOf(text)).toBe(excerpt)
})
