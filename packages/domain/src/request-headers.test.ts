import { describe, expect, it } from 'vitest'
import { findHeaderProblems } from './request-headers.ts'

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']))
}

describe('findHeaderProblems', () => {
  it.each([
    [{}],
    [{ Authorization: 'Bearer abc', 'Content-Type': 'application/json', 'X-Empty': '', 'Content-Encoding': 'gzip' }],
    [{ "!#$%&'*+-.^_`|~09azAZ": 'every character of a token' }],
    [{ 'X-Latin': 'caf\u00e9 \u00a7 \u00ff', 'User-Agent': 'me', Accept: '*/*', Cookie: 'a=b' }],
    [{ constructor: 'x', toString: 'y' }],
    [many(50)],
    [{ a: 'x'.repeat(8191) }],
  ])('finds nothing wrong with %j', headers => {
    expect(findHeaderProblems(headers)).toEqual([])
  })

  it.each([
    'Host',
    'content-length',
    'TRANSFER-ENCODING',
    'TE',
    'Trailer',
    'trailers',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'proxy-connection',
    'Upgrade',
    'Expect',
    'HTTP2-Settings',
    'webhook-id',
    'Webhook-Signature',
    'X-Belfry-Task-Id',
    'x-belfry-anything',
  ])('reserves %s', name => {
    expect(findHeaderProblems({ [name]: 'x' })).toEqual([{ name, message: expect.stringContaining('set by') }])
  })

  it.each([
    '',
    ' ',
    'X A',
    'X-A ',
    ' X-A',
    'X:A',
    ':path',
    'X\r\nY',
    'X\0',
    'X\tA',
    'X(A)',
    'X/A',
    'caf\u00e9',
    '日本',
  ])('refuses the name %j', name => {
    expect(findHeaderProblems({ [name]: 'x' })).toEqual([{ name, message: expect.stringContaining('token') }])
  })

  it.each([
    'a\r\nX-Injected: 1',
    'a\nb',
    'a\rb',
    '\0',
    'a\tb',
    '\x7f',
    '\x1b[0m',
    '\x85',
    '日本',
    '\u0100',
    '😀',
    '\ud800',
  ])('refuses the value %j', value => {
    expect(findHeaderProblems({ 'X-A': value })).toEqual([{ name: 'X-A', message: expect.stringContaining('Latin-1') }])
  })

  it.each([1, true, null, ['x'], {}])('refuses %j, which is not a string', value => {
    expect(findHeaderProblems({ 'X-A': value })).toEqual([{ name: 'X-A', message: 'The value must be a string.' }])
  })

  it('refuses __proto__ and stays unchanged', () => {
    const headers = JSON.parse('{"__proto__": "x", "X-A": "y"}')
    expect(findHeaderProblems(headers).map(({ name }) => name)).toEqual(['__proto__'])
  })

  it('refuses the second of two names that differ only in case', () => {
    expect(findHeaderProblems({ 'X-A': '1', 'x-a': '2' })).toEqual([
      { name: 'x-a', message: expect.stringContaining('twice') },
    ])
  })

  it('reports every bad header', () => {
    const problems = findHeaderProblems({ Host: 'x', 'X-Good': 'y', 'X Bad': 'z', 'X-Value': 'a\nb' })
    expect(problems.map(({ name }) => name)).toEqual(['Host', 'X Bad', 'X-Value'])
  })

  it('refuses more than 50 with one problem', () => {
    expect(findHeaderProblems(many(51))).toEqual([{ name: '', message: expect.stringContaining('50') }])
  })

  it('refuses more than 8 KiB of names and values', () => {
    expect(findHeaderProblems({ a: 'x'.repeat(8192) })).toEqual([
      { name: '', message: expect.stringContaining('8192') },
    ])
  })
})
