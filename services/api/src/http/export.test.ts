import { describe, expect, it } from 'vitest'
import { csvLine, exportResponse } from './export.ts'

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

describe('an organization', () => {
  const start = async (organizationId: string) => {
    const read = async () => ({ rows: [{ id: 1 }], next: null })
    const content = { name: 'all', format: 'jsonl' as const, read, present: (row: { id: number }) => row, columns: {} }
    const pieces = exportResponse(organizationId, content).pieces?.[Symbol.asyncIterator]()
    expect(await pieces?.next()).toEqual({ done: false, value: '{"id":1}\n' })
    return pieces
  }

  it('has two exports at a time, until one ends or its caller leaves', async () => {
    const [first, second] = [await start('a'), await start('a')]
    await expect(start('a')).rejects.toMatchObject({ code: 'rate_limited' })
    await start('b')
    expect(await first?.next()).toEqual({ done: true, value: undefined })
    await start('a')
    await expect(start('a')).rejects.toMatchObject({ code: 'rate_limited' })
    await second?.return?.()
    await start('a')
  })
})
