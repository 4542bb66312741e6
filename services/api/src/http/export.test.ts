import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Request } from 'express'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
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

const aRequest = () => new Readable() as Request
const present = (row: { id: number }) => row
const all = { name: 'all', format: 'jsonl' as const, present, columns: {}, check: async () => {} }

it('reads no further page when its caller has lost the right two seconds ago', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const lost = new Error('lost')
  const check = vi.fn(() => Promise.reject(lost))
  const read = async () => ({ rows: [{ id: 1 }], next: 'a' })
  const pieces = exportResponse(aRequest(), 'e', { ...all, read, check }).parts.pieces?.[Symbol.asyncIterator]()
  for (let i = 0; i < 2; i++) expect(await pieces?.next()).toMatchObject({ done: false })
  expect(check).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2_000)
  await expect(pieces?.next()).rejects.toBe(lost)
})

describe('an organization', () => {
  const ask = (organizationId: string, request = aRequest()) => {
    const read = async () => ({ rows: [{ id: 1 }], next: null })
    return exportResponse(request, organizationId, { ...all, read }).parts.pieces?.[Symbol.asyncIterator]()
  }
  const start = async (organizationId: string, request = aRequest()) => {
    const pieces = ask(organizationId, request)
    expect(await pieces?.next()).toEqual({ done: false, value: '{"id":1}\n' })
  }

  it('has two exports at a time, until the request of one is over', async () => {
    const [first, second] = [aRequest(), aRequest()]
    await start('a', first)
    await start('a', second)
    await expect(start('a')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 5_000 })
    await start('b')
    for (const request of [first, second]) {
      request.destroy()
      await setImmediate()
      await start('a')
      await expect(start('a')).rejects.toMatchObject({ code: 'rate_limited' })
    }
  })

  it('has two exports at a time, also before their first rows are read', () => {
    ask('c')
    ask('c')
    expect(() => ask('c')).toThrowError(expect.objectContaining({ code: 'rate_limited' }))
  })

  it('has the place of an export again whose caller leaves before it is sent, or has left', async () => {
    for (let i = 0; i < 3; i++) {
      ask('d', aRequest().destroy())
      await setImmediate()
    }
    const requests = [aRequest(), aRequest()]
    for (const request of requests) ask('d', request)
    expect(() => ask('d')).toThrowError(expect.objectContaining({ code: 'rate_limited' }))
    requests[0]?.destroy()
    await setImmediate()
    ask('d')
    expect(() => ask('d')).toThrowError(expect.objectContaining({ code: 'rate_limited' }))
  })
})
