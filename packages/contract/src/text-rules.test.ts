import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { describe, expect, it } from 'vitest'
import { displayName, emailAddress, id, instant, line, newPassword, oneOf } from './text-rules.ts'

function codeOf(result: object): unknown {
  return 'code' in result ? result.code : 'fine'
}

describe('line', () => {
  it.each([
    ['a', 'fine'],
    ['a'.repeat(200), 'fine'],
    ['a'.repeat(201), 'too_long'],
    ['😀'.repeat(200), 'fine'],
    ['😀'.repeat(201), 'too_long'],
    [`${'a'.repeat(199)}😀`, 'fine'],
    ['', 'too_short'],
    ['a\nb', 'invalid_characters'],
    ['a\0', 'invalid_characters'],
    ['a\x7f', 'invalid_characters'],
    ['a\u0085', 'invalid_characters'],
    ['\ud800', 'invalid_characters'],
    ['a\ufffd "quoted" <b>', 'fine'],
  ])('answers %j with %s', (text, expected) => {
    expect(codeOf(line(200)(text))).toBe(expected)
  })

  it('counts only as far as needed', () => {
    const text = 'a'.repeat(5_000_000)
    const count = () => {
      for (let i = 0; i < 100; i++) line(200)(text)
    }
    expect(cpuTimeOf(count)).toBeLessThan(1_000)
  })
})

describe('displayName', () => {
  it.each([
    ['a', 'fine'],
    ['  Daily report ', 'fine'],
    ['\u200bé', 'fine'],
    ['👩‍🚒', 'fine'],
    ['😀'.repeat(200), 'fine'],
    ['😀'.repeat(201), 'too_long'],
    ['', 'too_short'],
    ['   ', 'blank'],
    ['\u00a0\u2003\u3000', 'blank'],
    ['\u200b\u200d\ufeff', 'blank'],
    [' \t', 'invalid_characters'],
    ['ada\u202egro', 'invalid_characters'],
    ['\u2067a', 'invalid_characters'],
    ['\u200fשלום', 'fine'],
    ['\ud800', 'invalid_characters'],
  ])('answers %j with %s', (text, expected) => {
    expect(codeOf(displayName(text))).toBe(expected)
    const { pattern = '', minLength = 0, maxLength = 0 } = displayName.schema ?? {}
    const length = Array.from(text).length
    const isDescribed = length >= minLength && length <= maxLength && new RegExp(pattern, 'u').test(text)
    if (text !== '\ud800') expect(isDescribed).toBe(expected === 'fine')
  })
})

describe('newPassword', () => {
  it.each([
    ['a'.repeat(11), 'too_short'],
    ['a'.repeat(12), 'fine'],
    ['a'.repeat(128), 'fine'],
    ['a'.repeat(129), 'too_long'],
    ['😀'.repeat(6), 'too_short'],
    ['correct horse battery staple', 'fine'],
  ])('answers %j with %s', (text, expected) => {
    expect(codeOf(newPassword(text))).toBe(expected)
  })
})

describe('emailAddress', () => {
  it.each(['ada@example.com', 'Ada.Lovelace+test@mail.example.co.uk', "o'neill@example.com"])('accepts %s', text => {
    expect(codeOf(emailAddress(text))).toBe('fine')
  })

  it.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'a b@example.com',
    'ada@example.com\nBcc: eve@example.com',
    '"a@b"@example.com',
    'Ada <ada@example.com>',
    'ada@example.com, eve@example.com',
    ' ada@example.com',
    `${'a'.repeat(250)}@example.com`,
  ])('refuses %j', text => {
    expect(codeOf(emailAddress(text))).toBe('invalid_email')
  })
})

describe('other texts', () => {
  it('are parsed into their values', () => {
    expect(instant('2026-11-21T02:20:00Z')).toEqual({ value: new Date('2026-11-21T02:20:00Z') })
    expect(id('task')('task_00000000000000000000000001')).toEqual({ value: '00000000-0000-0000-0000-000000000001' })
    expect(oneOf(['a', 'b'])('b')).toEqual({ value: 'b' })
  })

  it('are refused with their own code', () => {
    expect(codeOf(instant('2026-11-21'))).toBe('invalid_timestamp')
    expect(codeOf(id('task')('run_00000000000000000000000001'))).toBe('invalid_id')
    expect(codeOf(oneOf(['a', 'b'])('A'))).toBe('invalid_value')
  })
})
