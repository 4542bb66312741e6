import { expect, test } from 'vitest'
import { printable, readableLine } from './log-line.ts'

const at = '2026-11-21T06:00:01.000Z'

test('shows warnings and errors with their role and cause, and nothing below', () => {
  const line = (level: number) =>
    readableLine(JSON.stringify({ level, time: at, service: 'api', err: { message: 'no route' }, msg: 'call.failed' }))
  expect(line(30)).toBeNull()
  expect(line(40)).toMatch(/^\d\d:\d\d:01 api WARN call\.failed: no route$/)
  expect(line(50)).toMatch(/ api ERROR call\.failed: no route$/)
  expect(line(60)).toMatch(/ api FATAL /)
})

test('shows the advice of a warning', () => {
  const line = JSON.stringify({ level: 40, time: at, service: 'scheduler', msg: 'queue.unfit', advice: 'AOF is off.' })
  expect(readableLine(line)).toMatch(/ scheduler WARN queue\.unfit: AOF is off\.$/)
})

test('shows a notice for the user at any level', () => {
  const line = JSON.stringify({ level: 30, time: at, msg: 'mail.written', notice: 'A mail to ada@example.com\u001b' })
  expect(readableLine(line)).toMatch(/^\d\d:\d\d:01 A mail to ada@example\.com\\u001b$/)
})

test('shows other lines unchanged, such as a stack on standard error', () => {
  expect(readableLine('    at main (main.mjs:1:1)')).toBe('belfry:     at main (main.mjs:1:1)')
  expect(readableLine('{"level":40, cut off')).toBe('belfry: {"level":40, cut off')
  expect(readableLine('Error: \u001b[2J')).toBe('belfry: Error: \\u001b[2J')
  expect(readableLine('')).toBeNull()
})

test('removes control characters', () => {
  expect(printable('a\u001b[2Jb\r\nc\u007fd\u009be')).toBe('a\\u001b[2Jb\\u000d\\u000ac\\u007fd\\u009be')
  expect(printable('naïve 日本 🎉')).toBe('naïve 日本 🎉')
})
