import { expect, it } from 'vitest'
import { readHeaderLines, writeHeaderLines } from './header-lines.ts'

it('parses header lines and writes them back', () => {
  const headers = { 'X-Tenant': 'acme', Authorization: 'Bearer {{ secrets.TOKEN }}', 'X-Time': '12:30' }
  expect(readHeaderLines(`${writeHeaderLines(headers)}\n\n`)).toEqual({ headers })
  expect(readHeaderLines('')).toEqual({ headers: {} })
  expect(readHeaderLines('X-Empty:')).toEqual({ headers: { 'X-Empty': '' } })
})

it.each([
  ['no colon', /Line 1/],
  ['A: 1\nnot a header: x', /Line 2/],
  ['A: 1\na: 2', /twice/],
])('%j is rejected', (text, error) => {
  expect(readHeaderLines(text)).toEqual({ error: expect.stringMatching(error) })
})
