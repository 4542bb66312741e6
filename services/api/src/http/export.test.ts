import { expect, it } from 'vitest'
import { csvLine } from './export.ts'

it('writes cells as RFC 4180 specifies', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\nlines', null, 0, false, ''])).toBe(
    'plain,"a,b","say ""hi""","two\nlines",,0,false,\r\n',
  )
})

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('keeps %j from being run by a spreadsheet', text => {
  expect(csvLine([text]).replaceAll('"', '')).toBe(`'${text}\r\n`)
})

it('leaves numbers alone, also negative ones', () => {
  expect(csvLine([-5])).toBe('-5\r\n')
})
