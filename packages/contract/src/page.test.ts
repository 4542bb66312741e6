import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor } from './page.ts'

const uuid = '0199d1c0-8d2f-7c3a-9b4e-5f60718293a4'
const query = { state: ['dead'], from: new Date('2026-11-21T00:00:00Z'), limit: 25 }
const cursor = encodeCursor('tasks:a', query, uuid)

describe('a cursor', () => {
  it('continues its list, with any limit', () => {
    expect(decodeCursor('tasks:a', { ...query, cursor }, cursor)).toBe(uuid)
    expect(decodeCursor('tasks:a', { ...query, limit: 100 }, cursor)).toBe(uuid)
  })

  it('does not depend on the order of the filters, nor on filters that are absent', () => {
    const same = { cursor: 'x', topic: undefined, from: query.from, state: query.state }
    expect(decodeCursor('tasks:a', same, cursor)).toBe(uuid)
  })

  it.each([
    ['another list', 'runs:a', query],
    ['another workspace', 'tasks:b', query],
    ['another filter', 'tasks:a', { ...query, source: ['cron'] }],
    ['another value', 'tasks:a', { ...query, state: ['success'] }],
    ['another time', 'tasks:a', { ...query, from: new Date('2026-11-21T00:00:01Z') }],
    ['fewer filters', 'tasks:a', { state: ['dead'] }],
  ])('is refused for %s', (_, list, other) => {
    expect(decodeCursor(list, other, cursor)).toBeNull()
  })

  it.each(['', 'x', '\0', '%', 'W10', 'bnVsbA', Buffer.from('["a","b"]').toString('base64url'), cursor.slice(0, -4)])(
    'is refused when it is %j',
    text => {
      expect(decodeCursor('tasks:a', query, text)).toBeNull()
    },
  )

  it('is refused when it holds anything but an id', () => {
    expect(decodeCursor('tasks:a', query, encodeCursor('tasks:a', query, 'x'))).toBeNull()
    const [binding] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const listed = Buffer.from(JSON.stringify([binding, [uuid]])).toString('base64url')
    expect(decodeCursor('tasks:a', query, listed)).toBeNull()
  })

  it('fits into a URL as it is', () => {
    expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,100}$/)
  })
})
